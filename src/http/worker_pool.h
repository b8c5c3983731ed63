#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"

namespace footnote::http {

/// Runs tasks on at most `threads_max` threads, started as they are first needed, with at most `queue_max` tasks
/// waiting beyond them. Thread-safe. Tasks must not throw.
class WorkerPool {
 public:
  /// `depth` shows how many tasks wait. It must outlive the pool.
  WorkerPool(unsigned threads_max, std::size_t queue_max, Gauge& depth);
  ~WorkerPool() { stop(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// False when the queue is full or the pool stopped: the task is then dropped without having run.
  [[nodiscard]] bool submit(std::move_only_function<void()> task);

  /// Takes no more tasks, runs those that wait, and joins. Not from a task.
  void stop();

 private:
  void run();
  bool start_thread() FOOTNOTE_TSA(requires_capability(mutex_));

  // Constant after construction.
  const std::size_t threads_max_;
  const std::size_t queue_max_;
  Gauge& depth_;

  Mutex mutex_;
  CondVar ready_;
  std::deque<std::move_only_function<void()>> queue_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::thread> threads_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t busy_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool stopped_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::http
