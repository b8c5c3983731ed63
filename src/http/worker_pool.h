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
#include "base/waiting.h"
#include "http/turn_rate.h"

namespace footnote::http {

/// What a refused client is told to wait at least and at most.
inline constexpr std::chrono::seconds kRetryAfterMin{1};
inline constexpr std::chrono::seconds kRetryAfterMax{30};
/// ... and where as many tasks that wait for others are under way as may be: about the time in which some of them end.
inline constexpr std::chrono::seconds kRetryAfterWaits{5};

/// kWaits: a task that is mostly waiting for others and says so (base/waiting.h); meanwhile it holds no place among the threads.
enum class TaskKind { kWorks, kWaits };

struct WorkerPoolOptions {
  unsigned threads_max = 1;   ///< Tasks that work at once.
  std::size_t queue_max = 0;  ///< Tasks that wait beyond the threads.
  std::size_t waits_max = 0;  ///< Tasks of TaskKind::kWaits that are queued or under way; each may have a thread of its own.
  /// A task that would probably wait longer is refused at once. The pool does not end the wait of one that it took:
  /// the caller does, by cancel.
  std::chrono::milliseconds wait_max{5'000};
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Runs tasks on a bounded number of threads, started as they are first needed, first come, first served. Thread-safe.
/// Tasks must not throw. A task that has waited goes on at once, for a while beside more than threads_max others: what was begun is
/// finished before what comes. There are never more threads than threads_max + waits_max.
class WorkerPool final : private ThreadLender {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ticket = std::uint64_t;
  /// The task was dropped without having run.
  struct Refused {
    std::chrono::seconds retry_after;
  };

  /// `depth` shows how many tasks wait for a thread, `away` how many threads wait for others. Both must outlive the pool.
  WorkerPool(WorkerPoolOptions options, Gauge& depth, Gauge& away);
  /// Stops, and waits for what runs without a bound.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `name` is for the messages of stop; it must outlive the task.
  [[nodiscard]] std::expected<Ticket, Refused> submit(std::move_only_function<void()> task, std::string_view name,
                                                      TaskKind kind = TaskKind::kWorks);
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
    TaskKind kind = TaskKind::kWorks;
  };

  using ThreadPlace = std::list<std::jthread>::iterator;
  /// A task under way.
  struct Running {
    std::list<std::string_view>::iterator name;
    TaskKind kind = TaskKind::kWorks;
  };

  void begin_waiting() override;
  void end_waiting() override;

  void run(ThreadPlace place);
  std::optional<Task> take_next(ThreadPlace place, std::optional<Running>& mine);
  /// False when the thread is to end.
  bool wait_for_task(MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  bool start_thread() FOOTNOTE_TSA(requires_capability(mutex_));
  bool takes(std::size_t place) const FOOTNOTE_TSA(requires_capability(mutex_));
  std::size_t idle_threads() const FOOTNOTE_TSA(requires_capability(mutex_));
  std::size_t present_threads() const FOOTNOTE_TSA(requires_capability(mutex_));
  std::size_t free_threads() const FOOTNOTE_TSA(requires_capability(mutex_));
  std::size_t waiting() const FOOTNOTE_TSA(requires_capability(mutex_));
  std::optional<TurnRate::Seconds> wait_at(std::size_t place) const FOOTNOTE_TSA(requires_capability(mutex_));
  std::chrono::seconds retry_after_of(std::size_t place) const FOOTNOTE_TSA(requires_capability(mutex_));
  void note_queue() FOOTNOTE_TSA(requires_capability(mutex_));

  // Constant after construction.
  const WorkerPoolOptions options_;
  Gauge& depth_;
  Gauge& away_gauge_;

  Mutex mutex_;
  CondVar ready_;
  CondVar ended_;
  Ticket next_ticket_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::map<Ticket, Task> queue_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::list<std::jthread> threads_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::jthread last_ended_ FOOTNOTE_TSA(guarded_by(mutex_));              // joins the one that ended before it
  std::list<std::string_view> running_ FOOTNOTE_TSA(guarded_by(mutex_));  // names, one a thread with a task
  std::size_t away_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;                 // of those, the ones that wait for others
  std::size_t waits_open_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;           // tasks of kWaits, queued or running
  TurnRate turns_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool backlogged_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool stopped_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::http
