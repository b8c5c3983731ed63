#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "base/result.h"

namespace footnote::nn {

/// Threads that run calls made of independent steps. Calls take turns step by step, so a short one does not wait for
/// all of a long one. Idle threads sleep. Thread-safe.
class WorkerPool {
 public:
  /// Calls that may be under way or waiting at once.
  static constexpr std::size_t kCallsMax = 256;

  /// Runs step `step` on worker `worker`: no two steps share a worker at the same time.
  using Task = std::function<void(std::size_t step, std::size_t worker)>;

  /// kResourceExhausted when the threads can't be started. REQUIRES: threads > 0.
  static Result<std::unique_ptr<WorkerPool>> start(std::size_t threads);
  /// REQUIRES: no run() is under way.
  ~WorkerPool();

  /// Runs `task` for every step below `steps` and returns when all are done. Between steps the call is checked:
  /// kCancelled or kDeadlineExceeded drop the steps not begun yet. kResourceExhausted: kCallsMax calls are in already.
  /// kInternal: a step threw.
  Result<void> run(const CallContext& call, std::size_t steps, const Task& task);

  std::size_t threads() const { return threads_.size(); }

 private:
  struct Group {  // Guarded by mutex_ but for the first two.
    const CallContext* call;
    const Task* task;
    std::size_t steps;
    std::size_t next = 0;
    std::size_t running = 0;
    Result<void> status = {};
    CondVar changed = {};

    bool finished() const { return next == steps && running == 0; }
  };

  WorkerPool() = default;
  void work(std::size_t worker);
  void run_one_step(std::size_t worker, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  void drop(Group& group, Error error) FOOTNOTE_TSA(requires_capability(mutex_));

  // Constant after start.
  std::vector<std::thread> threads_;

  Mutex mutex_;
  CondVar work_arrived_;
  std::deque<Group*> queue_ FOOTNOTE_TSA(guarded_by(mutex_));  // Groups with steps not begun yet.
  std::size_t calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool stopping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::nn
