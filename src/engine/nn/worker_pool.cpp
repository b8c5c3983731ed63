#include "engine/nn/worker_pool.h"

#include <algorithm>
#include <exception>
#include <stop_token>
#include <system_error>

#include "base/assert.h"

namespace footnote::nn {

Result<std::unique_ptr<WorkerPool>> WorkerPool::start(std::size_t threads) {
  FOOTNOTE_ASSERT(threads > 0);
  std::unique_ptr<WorkerPool> pool(new WorkerPool);
  try {
    for (std::size_t worker = 0; worker < threads; ++worker) {
      pool->threads_.emplace_back([raw = pool.get(), worker] { raw->work(worker); });
    }
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kResourceExhausted, "can't start {} threads: {}", threads, error.what());
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Result<void> WorkerPool::run(const CallContext& call, std::size_t steps, const Task& task) {
  FOOTNOTE_CHECK(call.check());
  if (steps == 0) return {};
  Group group{.call = &call, .task = &task, .steps = steps};
  // Before the lock and gone after it: a request to stop runs this at once, and its end waits for one that runs.
  const std::stop_callback on_stop(call.stop, [&] {
    const MutexLock lock(mutex_);
    group.changed.notify_all();
  });
  MutexLock lock(mutex_);
  if (calls_ >= kCallsMax) return fail(ErrorCode::kResourceExhausted, "{} calls are waiting already", kCallsMax);
  ++calls_;
  queue_.push_back(&group);
  if (steps > 1) {
    work_arrived_.notify_all();
  } else {
    work_arrived_.notify_one();
  }
  while (!group.finished()) {
    if (group.next == group.steps) {
      group.changed.wait(lock);  // Steps under way use the caller's memory: they are waited for in any case.
    } else if (auto alive = call.check(); !alive) {
      drop(group, std::move(alive).error());
    } else {
      group.changed.wait_until(lock, call.deadline);
    }
  }
  --calls_;
  return group.status;
}

void WorkerPool::drop(Group& group, Error error) {
  if (group.status) group.status = std::unexpected(std::move(error));
  group.next = group.steps;
  std::erase(queue_, &group);
}

void WorkerPool::work(std::size_t worker) {
  MutexLock lock(mutex_);
  while (true) {
    while (queue_.empty() && !stopping_) work_arrived_.wait(lock);
    if (queue_.empty()) return;
    run_one_step(worker, lock);
  }
}

void WorkerPool::run_one_step(std::size_t worker, MutexLock& lock) {
  Group& group = *queue_.front();
  if (auto alive = group.call->check(); !alive) {
    drop(group, std::move(alive).error());
    if (group.finished()) group.changed.notify_all();
    return;
  }
  queue_.pop_front();
  const std::size_t step = group.next++;
  ++group.running;
  if (group.next < group.steps) queue_.push_back(&group);  // To the end: calls take turns.
  const Task& task = *group.task;

  lock.native().unlock();
  std::exception_ptr thrown;
  try {
    task(step, worker);
  } catch (...) {  // The last resort: memory ran out, say.
    thrown = std::current_exception();
  }
  lock.native().lock();

  if (thrown) drop(group, Error{ErrorCode::kInternal, "a step of the call failed", {}});
  --group.running;
  if (group.finished()) group.changed.notify_all();
}

}  // namespace footnote::nn
