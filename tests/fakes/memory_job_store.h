#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/job_store.h"

namespace footnote::fakes {

/// Jobs in memory. It keeps every promise of its port but durability. Thread-safe. Borrows the clock.
class MemoryJobStore final : public JobStore {
 public:
  explicit MemoryJobStore(const Clock& clock) : clock_(clock) {}

  Result<Job> enqueue(const CallContext& call, const Job& job, Join join) override;
  Result<Job> job(const CallContext& call, WorkspaceId workspace, JobId id) const override;
  Result<std::vector<Job>> jobs(const CallContext& call, WorkspaceId workspace, JobId before, std::size_t limit) const override;
  Result<std::optional<Job>> last_job(const CallContext& call, SourceId source) const override;
  Result<Job> cancel(const CallContext& call, WorkspaceId workspace, JobId id) override;
  Result<std::optional<Job>> take(const CallContext& call, std::string_view worker, UtcTime now, UtcTime until) override;
  Result<void> note(const CallContext& call, JobId id, std::string_view worker, const JobProgress& progress, UtcTime until) override;
  Result<void> finish(const CallContext& call, JobId id, std::string_view worker, JobState state, const JobProgress& progress,
                      std::string_view error) override;
  Result<void> postpone(const CallContext& call, JobId id, std::string_view worker, const JobProgress& progress, std::string_view error,
                        UtcTime due_at) override;
  Result<void> abandon(const CallContext& call, std::string_view worker_prefix) override;

  /// What the deletion of a source does to its jobs.
  void cancel_jobs_of(SourceId source);

  // For tests.
  Faults& take_faults() { return take_faults_; }

 private:
  struct Stored {
    Job job;
    bool cancelled = false;
    std::string worker;
    UtcTime until = {};
  };
  Result<Stored*> own(JobId id, std::string_view worker) FOOTNOTE_TSA(requires_capability(mutex_));
  void end(Stored& stored, JobState state, std::string_view error) FOOTNOTE_TSA(requires_capability(mutex_));
  void end_hopeless(UtcTime now) FOOTNOTE_TSA(requires_capability(mutex_));

  const Clock& clock_;
  Faults take_faults_;
  mutable Mutex mutex_;
  std::map<JobId, Stored> jobs_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::int64_t last_id_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
