#include "http/worker_pool.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/contained.h"

namespace footnote::http {

namespace {

WorkerPoolOptions checked(WorkerPoolOptions options) {
  options.threads_max = std::max(options.threads_max, 1U);
  return options;
}

}  // namespace

WorkerPool::WorkerPool(WorkerPoolOptions options, Gauge& depth, Gauge& away)
    : options_(checked(std::move(options))), depth_(depth), away_gauge_(away), turns_(options_.wait_max) {}

WorkerPool::~WorkerPool() { stop(Time::max()); }

std::size_t WorkerPool::idle_threads() const { return threads_.size() - running_.size(); }

std::size_t WorkerPool::present_threads() const { return threads_.size() - away_; }

/// 0 while tasks resumed from a wait run in addition to threads_max others.
std::size_t WorkerPool::free_threads() const {
  const std::size_t working = running_.size() - away_;
  return options_.threads_max - std::min<std::size_t>(options_.threads_max, working);
}

/// Queued tasks without a free thread: those with one are about to run.
std::size_t WorkerPool::waiting() const { return queue_.size() - std::min(queue_.size(), free_threads()); }

std::optional<TurnRate::Seconds> WorkerPool::wait_at(std::size_t place) const {
  return backlogged_ ? turns_.wait_at(place, options_.now()) : std::nullopt;
}

void WorkerPool::note_queue() {
  depth_.set(static_cast<std::int64_t>(queue_.size()));
  if (stopped_ && queue_.empty()) ready_.notify_all();  // also the threads that waited for room to take the last task
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

std::expected<WorkerPool::Ticket, WorkerPool::Refused> WorkerPool::submit(std::move_only_function<void()> task, std::string_view name,
                                                                          TaskKind kind) {
  Ticket ticket = 0;
  {
    MutexLock lock(mutex_);
    if (kind == TaskKind::kWaits && waits_open_ >= options_.waits_max) return std::unexpected(Refused{kRetryAfterWaits});
    const std::size_t place = waiting() + 1;
    if (!takes(place)) return std::unexpected(Refused{retry_after_of(place)});
    // A thread without a task does not count as running, so each queued task may already have one.
    if (queue_.size() >= idle_threads() && present_threads() < options_.threads_max && !start_thread() && threads_.empty()) {
      return std::unexpected(Refused{kRetryAfterMin});
    }
    ticket = next_ticket_++;
    queue_.emplace(ticket, Task{std::move(task), {name}, kind});
    if (kind == TaskKind::kWaits) ++waits_open_;
    note_queue();
  }
  ready_.notify_one();
  return ticket;
}

bool WorkerPool::cancel(Ticket ticket) {
  Task dropped;  // destroyed after the lock is released
  MutexLock lock(mutex_);
  const auto found = queue_.find(ticket);
  if (found == queue_.end()) return false;
  dropped = std::move(found->second);
  queue_.erase(found);
  if (dropped.kind == TaskKind::kWaits) --waits_open_;
  note_queue();
  return true;
}

std::chrono::seconds WorkerPool::retry_after() {
  MutexLock lock(mutex_);
  return retry_after_of(waiting() + 1);
}

bool WorkerPool::start_thread() {
  ThreadPlace place = threads_.end();
  const bool started = contained("http", "starting a worker thread", [&]() FOOTNOTE_TSA(no_thread_safety_analysis) {
    place = threads_.emplace(threads_.end());
    *place = std::jthread([this, place] { run(place); });
  });
  if (!started && place != threads_.end()) threads_.erase(place);
  return started;
}

void WorkerPool::begin_waiting() {
  {
    MutexLock lock(mutex_);
    away_gauge_.set(static_cast<std::int64_t>(++away_));
    if (backlogged_) turns_.count(options_.now());
    // If no thread can be started, the queue waits for the next task to end.
    if (queue_.size() > idle_threads() && present_threads() < options_.threads_max) (void)start_thread();
    note_queue();
  }
  ready_.notify_one();
}

void WorkerPool::end_waiting() {
  MutexLock lock(mutex_);
  away_gauge_.set(static_cast<std::int64_t>(--away_));
  note_queue();
}

bool WorkerPool::wait_for_task(MutexLock& lock) {
  while (queue_.empty() || free_threads() == 0) {
    const bool is_over = stopped_ && queue_.empty();
    // Too many threads: tasks resumed from a wait after others had taken their places.
    const bool is_spare = present_threads() > options_.threads_max;
    if (is_over || is_spare) return false;
    ready_.wait(lock);
  }
  return true;
}

/// The next task, or nullopt if the thread must end. `mine` is the caller's last task on entry, the new one on return.
std::optional<WorkerPool::Task> WorkerPool::take_next(ThreadPlace place, std::optional<Running>& mine) {
  std::jthread ended_before;  // joined after the lock is released: at most one ended thread is unjoined
  MutexLock lock(mutex_);
  // In one step with taking the next task: a thread between two tasks is not free for others.
  const bool was_busy = mine.has_value();
  if (was_busy) {
    running_.erase(mine->name);
    if (mine->kind == TaskKind::kWaits) --waits_open_;
    mine.reset();
  }
  if (!wait_for_task(lock)) {
    ended_before = std::exchange(last_ended_, std::move(*place));
    threads_.erase(place);
    ended_.notify_all();
    return std::nullopt;
  }
  if (backlogged_ && was_busy) turns_.count(options_.now());
  Task task = std::move(queue_.begin()->second);
  queue_.erase(queue_.begin());
  running_.splice(running_.end(), task.name);
  mine = {std::prev(running_.end()), task.kind};
  note_queue();
  return task;
}

void WorkerPool::run(ThreadPlace place) {
  ThreadLender& lender = *this;
  std::optional<Running> mine;
  while (auto task = take_next(place, mine)) {
    std::optional<LentThread> lent;
    if (task->kind == TaskKind::kWaits) lent.emplace(lender);
    task->run();
  }
}

std::vector<std::string> WorkerPool::stop(Time deadline) {
  std::jthread last;  // joined after the lock is released
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    ready_.notify_all();
    while (!threads_.empty()) {
      if (!ended_.wait_until(lock, deadline) && std::chrono::steady_clock::now() >= deadline) {
        return {running_.begin(), running_.end()};
      }
    }
    last.swap(last_ended_);
  }
  return {};
}

}  // namespace footnote::http
