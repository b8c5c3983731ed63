#include "http/worker_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace footnote::http {

WorkerPool::WorkerPool(unsigned threads_max, std::size_t queue_max, Gauge& depth)
    : threads_max_(std::max(threads_max, 1U)), queue_max_(queue_max), depth_(depth) {}

bool WorkerPool::submit(std::move_only_function<void()> task) {
  {
    MutexLock lock(mutex_);
    const std::size_t free = threads_max_ - busy_;
    if (stopped_ || queue_.size() >= free + queue_max_) return false;
    // A thread that waits has not counted itself busy, so each queued task may already have one.
    const std::size_t idle = threads_.size() - busy_;
    if (queue_.size() >= idle && threads_.size() < threads_max_ && !start_thread() && threads_.empty()) return false;
    queue_.push_back(std::move(task));
    depth_.set(static_cast<std::int64_t>(queue_.size()));
  }
  ready_.notify_one();
  return true;
}

bool WorkerPool::start_thread() {
  try {
    threads_.emplace_back([this] { run(); });
    return true;
  } catch (const std::system_error& error) {
    log(LogLevel::kError, "http", "can't start a worker thread", {{"reason", error.what()}});
    return false;
  }
}

void WorkerPool::run() {
  while (true) {
    std::move_only_function<void()> task;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopped_) ready_.wait(lock);
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
      depth_.set(static_cast<std::int64_t>(queue_.size()));
      ++busy_;
    }
    task();
    task = nullptr;
    MutexLock lock(mutex_);
    --busy_;
  }
}

void WorkerPool::stop() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    threads.swap(threads_);
  }
  ready_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace footnote::http
