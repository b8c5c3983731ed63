#pragma once

#include "ports/job_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/job_store.h (JobStore) over the embedded database.
class SqliteJobStore final : public JobStore {
 public:
  explicit SqliteJobStore(SqliteStore& store) : store_(store) {}

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

 private:
  SqliteStore& store_;
};

/// Ends the waiting and the running jobs of a source that is deleted; part of that transaction.
Result<void> cancel_jobs_of(sql::Database& database, SourceId source, UtcTime now);

}  // namespace footnote
