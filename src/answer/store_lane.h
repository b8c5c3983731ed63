#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace footnote::answer {

/// Stores turns on a thread of its own, in order, for answers that end on a thread which must not wait. Thread-safe.
class StoreLane {
 public:
  /// Turns that wait to be stored.
  static constexpr std::size_t kWaitingMax = 1'024;
  /// How long the destructor goes on storing what still waits.
  static constexpr std::chrono::seconds kDrainTimeMax{10};

  using Job = std::move_only_function<void()>;

  StoreLane() = default;
  ~StoreLane();
  StoreLane(const StoreLane&) = delete;
  StoreLane& operator=(const StoreLane&) = delete;

  /// False when too many wait, or no thread can be had: the job does not run. Never waits for a job. A job must not throw.
  bool push(Job job);
  /// True when nothing waits and nothing runs, by `deadline`. For tests.
  bool wait_until_idle(std::chrono::steady_clock::time_point deadline);

 private:
  bool has_thread() FOOTNOTE_TSA(requires_capability(mutex_));
  void run(const std::stop_token& stop);

  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool running_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::jthread thread_ FOOTNOTE_TSA(guarded_by(mutex_));  ///< Started with the first job.
};

}  // namespace footnote::answer
