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

/// Limits of the Retry-After given to refused clients.
inline constexpr std::chrono::seconds kRetryAfterMin{1};
inline constexpr std::chrono::seconds kRetryAfterMax{30};
/// Retry-After when waits_max is reached: about the time until some waiting tasks end.
inline constexpr std::chrono::seconds kRetryAfterWaits{5};

/// kWaits: a task that mostly waits for something external and says so (base/waiting.h); while it waits, it does not count against
/// threads_max.
enum class TaskKind { kWorks, kWaits };

struct WorkerPoolOptions {
  unsigned threads_max = 1;   ///< Tasks that run concurrently.
  std::size_t queue_max = 0;  ///< Tasks waiting for a thread.
  std::size_t waits_max = 0;  ///< Queued or running tasks of TaskKind::kWaits; each may have its own thread.
  /// A task that would probably wait longer is refused at once. The pool never drops a task it has accepted; the caller can cancel it.
  std::chrono::milliseconds wait_max{5'000};
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Runs tasks in FIFO order on a bounded number of threads, which start on demand. Thread-safe. Tasks must not throw. A task that finishes
/// waiting resumes at once, so for a while more than threads_max tasks may run: started work is finished before new work. There are never
/// more than threads_max + waits_max threads.
class WorkerPool final : private ThreadLender {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Ticket = std::uint64_t;
  /// The task was dropped without running.
  struct Refused {
    std::chrono::seconds retry_after;
  };

  /// `depth` is set to the number of queued tasks, `away` to the number of waiting threads. Both must outlive the pool.
  WorkerPool(WorkerPoolOptions options, Gauge& depth, Gauge& away);
  /// Stops, and waits without limit for running tasks.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `name` appears in the result of stop; it must outlive the task.
  [[nodiscard]] std::expected<Ticket, Refused> submit(std::move_only_function<void()> task, std::string_view name,
                                                      TaskKind kind = TaskKind::kWorks);
  /// True if the task was still queued: it will not run. False if it is running or has run.
  bool cancel(Ticket ticket);
  /// When to retry: by then all tasks queued now should have started.
  std::chrono::seconds retry_after();

  /// Accepts no more tasks, runs the queued ones, and ends. Must not be called from a task. Returns the names of the tasks still running at
  /// the deadline; if there are any, the pool must not be destroyed before they end.
  std::vector<std::string> stop(Time deadline);

 private:
  struct Task {
    std::move_only_function<void()> run;
    std::list<std::string_view> name;  // a list of one element, which is moved into running_, so that taking a task allocates nothing
    TaskKind kind = TaskKind::kWorks;
  };

  using ThreadPlace = std::list<std::jthread>::iterator;
  /// A running task.
  struct Running {
    std::list<std::string_view>::iterator name;
    TaskKind kind = TaskKind::kWorks;
  };

  void begin_waiting() override;
  void end_waiting() override;

  void run(ThreadPlace place);
  std::optional<Task> take_next(ThreadPlace place, std::optional<Running>& mine);
  /// False if the thread must end.
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
  std::jthread last_ended_ FOOTNOTE_TSA(guarded_by(mutex_));              // joins the thread that ended before it
  std::list<std::string_view> running_ FOOTNOTE_TSA(guarded_by(mutex_));  // names, one for each thread with a task
  std::size_t away_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;                 // how many of them are waiting
  std::size_t waits_open_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;           // tasks of kWaits, queued or running
  TurnRate turns_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool backlogged_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool stopped_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::http
