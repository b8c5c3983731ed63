#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "ports/job_store.h"

namespace footnote::upkeep {

/// Tries of a job whose work is out of reach (an embedder, a site): then it fails.
inline constexpr int kJobTriesMax = 8;
/// The wait before the next try: doubles from 5 s to 10 minutes.
std::chrono::seconds job_retry_wait(int attempts);

/// Works through the queue of jobs, a bounded number at a time. A job that a crash interrupted is begun again at the next start. Metrics:
/// footnote_jobs_total{kind,result}, footnote_jobs_running.
class JobRunner {
 public:
  /// Stores how far the job is, not too often. An error means: stop now.
  using Report = std::function<Result<void>(const JobProgress&)>;
  /// Does the work. Its call is stopped when the job is cancelled or the runner stops. kUnavailable, kDeadlineExceeded, kResourceExhausted
  /// and kStorageFull: another try comes later.
  using Handler = std::function<Result<JobProgress>(const CallContext& call, const Job& job, const Report& report)>;
  using Handlers = std::map<std::string, Handler, std::less<>>;

  struct Options {
    std::size_t workers = 2;
    std::string name = "local";  ///< Of this process; its workers are NAME/1, NAME/2 ...
    std::chrono::milliseconds lease{60'000};
    std::chrono::milliseconds beat{2'000};      ///< How often a silent job's lease is extended and its cancellation noticed.
    std::chrono::milliseconds poll{1'000};      ///< How often the queue is looked at without being woken.
    std::chrono::milliseconds note_every{500};  ///< How often progress is stored.
  };

  /// Borrows the store, the clock and the metrics. Idle until start().
  JobRunner(JobStore& jobs, const Clock& clock, Metrics& metrics, Handlers handlers, Options options);
  ~JobRunner();

  /// REQUIRES: no other process of that name runs jobs of this store. Takes back the jobs of an earlier one.
  void start();
  /// Interrupts running jobs, which go back into the queue, and waits for them.
  void stop();
  /// Something was queued.
  void wake();
  /// Takes and runs one job on this thread; false if none was due. For tests and for processes without workers.
  Result<bool> run_one(const CallContext& call, std::string_view worker);

 private:
  struct Running;
  void work(const std::stop_token& stop, const std::string& worker);
  void beat(const std::stop_token& stop);
  void run(const CallContext& call, const Job& job, const std::string& worker);
  void settle(const CallContext& call, const Job& job, const std::string& worker, const JobProgress& progress,
              const Result<JobProgress>& ended);
  void count(std::string_view kind, std::string_view result, std::uint64_t by = 1);

  JobStore& jobs_;
  const Clock& clock_;
  Metrics& metrics_;
  const Handlers handlers_;
  const Options options_;

  Mutex mutex_;
  CondVar changed_;
  std::uint64_t wakes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::map<JobId, Running*> running_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<std::jthread> threads_;
};

}  // namespace footnote::upkeep
