#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace footnote::answer {

/// Stores turns in order on a separate thread, for callers whose thread must not block. Thread-safe.
class StoreLane {
 public:
  /// Bound on queued turns.
  static constexpr std::size_t kWaitingMax = 1'024;
  /// How long the destructor continues to store queued turns.
  static constexpr std::chrono::seconds kDrainTimeMax{10};

  using Job = std::move_only_function<void()>;

  StoreLane() = default;
  ~StoreLane();
  StoreLane(const StoreLane&) = delete;
  StoreLane& operator=(const StoreLane&) = delete;

  /// False if the queue is full or no thread could be started: the job does not run. Never blocks on a job. A job must not throw.
  bool push(Job job);
  /// True if nothing is queued or running by `deadline`. For tests.
  bool wait_until_idle(std::chrono::steady_clock::time_point deadline);

 private:
  bool has_thread() FOOTNOTE_TSA(requires_capability(mutex_));
  void run(const std::stop_token& stop);

  Mutex mutex_;
  CondVar changed_;
  std::deque<Job> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool running_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::jthread thread_ FOOTNOTE_TSA(guarded_by(mutex_));  ///< Started by the first job.
};

}  // namespace footnote::answer
