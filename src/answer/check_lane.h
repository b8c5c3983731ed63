#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace footnote::answer {

/// The few threads on which sentences of all answers are checked, first come, first served, those of one owner one after the other. A check
/// keeps every core busy by itself: more threads would only take the processor from those who stream and search. Thread-safe.
class CheckLane {
 public:
  static constexpr std::size_t kThreads = 2;
  /// Jobs that wait, of all answers together: so many are checked in the time for which the end of an answer waits, or nearly.
  static constexpr std::size_t kWaitingMax = 64;
  /// From so many on there are more than can be checked. Then a thread rests after a job, a few times as long as that took: what it would
  /// gain is little, and every answer that streams would pay for it.
  static constexpr std::size_t kBehind = kWaitingMax / 2;
  static constexpr int kRestFactor = 3;
  static constexpr std::chrono::milliseconds kRestMax{500};

  using Job = std::move_only_function<void()>;

  CheckLane() = default;
  /// REQUIRES: every owner has withdrawn its jobs.
  ~CheckLane();
  CheckLane(const CheckLane&) = delete;
  CheckLane& operator=(const CheckLane&) = delete;

  /// False when too many wait, or no thread can be had. A job must not throw.
  bool push(const void* owner, Job job);
  /// Drops the jobs of this owner that still wait, and tells how many. One that is under way goes on.
  std::size_t withdraw(const void* owner);

 private:
  struct Waiting {
    const void* owner;
    Job job;
  };

  bool has_thread() FOOTNOTE_TSA(requires_capability(mutex_));
  std::deque<Waiting>::iterator next() FOOTNOTE_TSA(requires_capability(mutex_));
  void run(const std::stop_token& stop);
  void rest(MutexLock& lock, const std::stop_token& stop, std::chrono::steady_clock::duration took)
      FOOTNOTE_TSA(requires_capability(mutex_));

  Mutex mutex_;
  CondVar ready_;
  CondVar ending_;  // of the lane: ends a rest
  std::deque<Waiting> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<const void*> busy_ FOOTNOTE_TSA(guarded_by(mutex_));  // owners of jobs that are under way
  std::vector<std::jthread> threads_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::answer
