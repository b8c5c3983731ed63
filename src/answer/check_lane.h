#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace footnote::answer {

/// A small thread pool that checks the sentences of all answers in FIFO order; jobs of one owner run one at a time. One check already uses
/// every core, so more threads would only slow down streaming and search. Thread-safe.
class CheckLane {
 public:
  static constexpr std::size_t kThreads = 2;
  /// Bound on queued jobs of all answers. About this many can be checked in the time that the end of an answer waits.
  static constexpr std::size_t kWaitingMax = 64;
  /// With this many queued jobs, the checks cannot keep up. A thread then pauses after each job, for a few times the job's duration: the
  /// extra checks would gain little and slow down every streaming answer.
  static constexpr std::size_t kBehind = kWaitingMax / 2;
  static constexpr int kRestFactor = 3;
  static constexpr std::chrono::milliseconds kRestMax{500};

  using Job = std::move_only_function<void()>;

  CheckLane() = default;
  /// REQUIRES: every owner has withdrawn its jobs.
  ~CheckLane();
  CheckLane(const CheckLane&) = delete;
  CheckLane& operator=(const CheckLane&) = delete;

  /// False if the queue is full or no thread could be started. A job must not throw.
  bool push(const void* owner, Job job);
  /// Drops this owner's queued jobs and returns their number. A running job continues.
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
  CondVar ending_;  // interrupts a pause on shutdown
  std::deque<Waiting> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<const void*> busy_ FOOTNOTE_TSA(guarded_by(mutex_));  // owners of running jobs
  std::vector<std::jthread> threads_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::answer
