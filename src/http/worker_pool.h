#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "http/turn_rate.h"

namespace footnote::http {

/// What a refused client is told to wait at least and at most.
inline constexpr std::chrono::seconds kRetryAfterMin{1};
inline constexpr std::chrono::seconds kRetryAfterMax{30};

struct WorkerPoolOptions {
  unsigned threads_max = 1;
  std::size_t queue_max = 0;  ///< Tasks that wait beyond the threads.
  /// A task that would probably wait longer is refused at once. The pool does not end the wait of one that it took:
  /// the caller does, by cancel.
  std::chrono::milliseconds wait_max{5'000};
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Runs tasks on a bounded number of threads, started as they are first needed, first come, first served. Thread-safe.
/// Tasks must not throw.
class WorkerPool {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ticket = std::uint64_t;
  /// The task was dropped without having run.
  struct Refused {
    std::chrono::seconds retry_after;
  };

  /// `depth` shows how many tasks wait. It must outlive the pool.
  WorkerPool(WorkerPoolOptions options, Gauge& depth);
  /// Stops, and waits for what runs without a bound.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `name` is for the messages of stop; it must outlive the task.
  [[nodiscard]] std::expected<Ticket, Refused> submit(std::move_only_function<void()> task, std::string_view name);
  /// True when the task still waited: it will not run. False when it runs or has run.
  bool cancel(Ticket ticket);
  /// When to come again: by then those that wait now will have had their turn.
  std::chrono::seconds retry_after();

  /// Takes no more tasks, runs those that wait, and ends. Not from a task. The names of the tasks that still run at the
  /// deadline; when there are any, the pool must not be destroyed before they end.
  std::vector<std::string> stop(Time deadline);

 private:
  struct Task {
    std::move_only_function<void()> run;
    std::string_view name;
  };

  using Running = std::optional<std::list<std::string_view>::iterator>;

  void run();
  std::optional<Task> take_next(Running& mine);
  bool start_thread() FOOTNOTE_TSA(requires_capability(mutex_));
  bool takes(std::size_t place) const FOOTNOTE_TSA(requires_capability(mutex_));
  std::size_t free_threads() const FOOTNOTE_TSA(requires_capability(mutex_));
  std::size_t waiting() const FOOTNOTE_TSA(requires_capability(mutex_));
  std::optional<TurnRate::Seconds> wait_at(std::size_t place) const FOOTNOTE_TSA(requires_capability(mutex_));
  std::chrono::seconds retry_after_of(std::size_t place) const FOOTNOTE_TSA(requires_capability(mutex_));
  void note_queue() FOOTNOTE_TSA(requires_capability(mutex_));

  // Constant after construction.
  const WorkerPoolOptions options_;
  Gauge& depth_;

  Mutex mutex_;
  CondVar ready_;
  CondVar ended_;
  Ticket next_ticket_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::map<Ticket, Task> queue_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::thread> threads_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::list<std::string_view> running_ FOOTNOTE_TSA(guarded_by(mutex_));  // names, one a busy thread
  TurnRate turns_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t ended_threads_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool backlogged_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool stopped_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::http
