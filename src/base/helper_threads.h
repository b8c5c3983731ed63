#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace footnote {

/// Idle threads that run half of a caller's work, so that a single question is answered sooner on an idle machine. A caller never waits for
/// a free thread: it runs the work itself unless a helper has already started it. Thread-safe.
class HelperThreads {
 public:
  static constexpr std::size_t kThreadsMax = 64;

  /// REQUIRES: threads <= kThreadsMax. With 0 threads, the caller runs everything.
  explicit HelperThreads(std::size_t threads);
  /// REQUIRES: no call is in progress.
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  /// Runs `here` on this thread and `there` on a helper in parallel, if there is an idle helper for every caller now in run_both().
  /// Otherwise runs both on this thread, one after the other. Returns when both have finished, and rethrows their exceptions. `there` may
  /// itself call run_both() on the helper: while the outer caller waits, it acts as the helper of that inner call.
  void run_both(const std::function<void()>& here, const std::function<void()>& there);

  std::size_t threads() const { return threads_.size(); }

 private:
  struct Job {
    const std::function<void()>* work = nullptr;
    std::exception_ptr thrown = {};
    std::atomic<bool> done = false;
    std::atomic<Job*> offered = nullptr;  ///< Nested work that the helper running this job offers to its caller.
  };
  /// The job that a helper thread is running.
  struct Serving {
    const HelperThreads* helpers = nullptr;
    Job* job = nullptr;
  };

  void serve();
  /// Queues the job if a helper is idle for it.
  bool enqueue(Job& job);
  /// True if no helper had started the job.
  bool take_back(const Job& job);
  /// Waits for a started job to end. Meanwhile runs the nested work that the job offers.
  void wait_for(Job& job);
  /// run_both(), called from within a job.
  void run_both_within(Job& outer, const std::function<void()>& here, const std::function<void()>& there);
  void run_offered(Job& job);

  static thread_local Serving serving;

  Mutex mutex_;
  CondVar arrived_;
  CondVar finished_;
  std::vector<Job*> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::atomic<std::size_t> queued_ = 0;                       // waiting_.size(), readable without the lock.
  std::size_t idle_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;     // Helpers without a job, minus those about to take a waiting one.
  std::size_t callers_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // Threads in run_both().
  bool stopping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::vector<std::thread> threads_;  // Must be the last member: the threads have to end before the members they use are destroyed.
};

/// HelperThreads::run_both(); runs one after the other when `helpers` is null.
inline void run_both(HelperThreads* helpers, const std::function<void()>& here, const std::function<void()>& there) {
  if (helpers != nullptr) return helpers->run_both(here, there);
  here();
  there();
}

/// Calls work(part) for every part in [0, parts) and returns when all are done. With `helpers`, two threads take parts until none is left.
template <class Work>
void run_parts(HelperThreads* helpers, std::size_t parts, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t part = next++; part < parts; part = next++) work(part);
  };
  run_both(helpers, take, take);
}

}  // namespace footnote
