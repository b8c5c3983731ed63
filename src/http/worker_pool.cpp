#include "http/worker_pool.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace footnote::http {

namespace {

WorkerPoolOptions checked(WorkerPoolOptions options) {
  options.threads_max = std::max(options.threads_max, 1U);
  return options;
}

}  // namespace

WorkerPool::WorkerPool(WorkerPoolOptions options, Gauge& depth)
    : options_(checked(std::move(options))), depth_(depth), turns_(options_.wait_max) {}

WorkerPool::~WorkerPool() { stop(Time::max()); }

std::size_t WorkerPool::free_threads() const { return options_.threads_max - running_.size(); }

/// Tasks of the queue for which there is no free thread: those that have one are as good as running.
std::size_t WorkerPool::waiting() const { return queue_.size() - std::min(queue_.size(), free_threads()); }

std::optional<TurnRate::Seconds> WorkerPool::wait_at(std::size_t place) const {
  return backlogged_ ? turns_.wait_at(place, options_.now()) : std::nullopt;
}

void WorkerPool::note_queue() {
  depth_.set(static_cast<std::int64_t>(queue_.size()));
  const bool backlogged = waiting() > 0;
  if (backlogged && !backlogged_) turns_.start(options_.now());
  backlogged_ = backlogged;
}

std::chrono::seconds WorkerPool::retry_after_of(std::size_t place) const {
  const auto wait = wait_at(place);
  if (!wait) return kRetryAfterMin;
  return std::clamp(std::chrono::ceil<std::chrono::seconds>(std::min<TurnRate::Seconds>(*wait, kRetryAfterMax)), kRetryAfterMin,
                    kRetryAfterMax);
}

bool WorkerPool::takes(std::size_t place) const {
  if (stopped_ || queue_.size() >= free_threads() + options_.queue_max) return false;
  const auto wait = wait_at(place);
  return !wait || *wait <= options_.wait_max;
}

std::expected<WorkerPool::Ticket, WorkerPool::Refused> WorkerPool::submit(std::move_only_function<void()> task, std::string_view name) {
  Ticket ticket = 0;
  {
    MutexLock lock(mutex_);
    const std::size_t place = waiting() + 1;
    if (!takes(place)) return std::unexpected(Refused{retry_after_of(place)});
    // A thread that waits does not count as running, so each queued task may already have one.
    const std::size_t idle = threads_.size() - running_.size();
    if (queue_.size() >= idle && threads_.size() < options_.threads_max && !start_thread() && threads_.empty()) {
      return std::unexpected(Refused{kRetryAfterMin});
    }
    ticket = next_ticket_++;
    queue_.emplace(ticket, Task{std::move(task), name});
    note_queue();
  }
  ready_.notify_one();
  return ticket;
}

bool WorkerPool::cancel(Ticket ticket) {
  Task dropped;  // destroyed without the lock
  MutexLock lock(mutex_);
  const auto found = queue_.find(ticket);
  if (found == queue_.end()) return false;
  dropped = std::move(found->second);
  queue_.erase(found);
  note_queue();
  return true;
}

std::chrono::seconds WorkerPool::retry_after() {
  MutexLock lock(mutex_);
  return retry_after_of(waiting() + 1);
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

/// The next task, or nullopt when the pool stopped. `mine` is the place of the caller's last one in running_, then of this.
std::optional<WorkerPool::Task> WorkerPool::take_next(Running& mine) {
  MutexLock lock(mutex_);
  // In one step with the next turn: a thread between two tasks is not free for others.
  const bool was_busy = mine.has_value();
  if (was_busy) running_.erase(*std::exchange(mine, std::nullopt));
  while (queue_.empty() && !stopped_) ready_.wait(lock);
  if (queue_.empty()) {
    ++ended_threads_;
    ended_.notify_all();
    return std::nullopt;
  }
  if (backlogged_ && was_busy) turns_.count(options_.now());
  Task task = std::move(queue_.begin()->second);
  queue_.erase(queue_.begin());
  mine = running_.insert(running_.end(), task.name);
  note_queue();
  return task;
}

void WorkerPool::run() {
  Running mine;
  while (auto task = take_next(mine)) task->run();
}

std::vector<std::string> WorkerPool::stop(Time deadline) {
  std::vector<std::thread> ended;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    ready_.notify_all();
    while (ended_threads_ < threads_.size()) {
      if (!ended_.wait_until(lock, deadline) && std::chrono::steady_clock::now() >= deadline) {
        return {running_.begin(), running_.end()};
      }
    }
    ended_threads_ = 0;
    ended.swap(threads_);
  }
  for (std::thread& thread : ended) thread.join();
  return {};
}

}  // namespace footnote::http
