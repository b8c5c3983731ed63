#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/job.h"

namespace footnote {

/// A durable queue of jobs. Workers, of one process or of many, take each job once: a job that was taken belongs to its worker until the
/// lease ends. One job of a source runs at a time. Thread-safe; writes are durable when they return. Jobs of other workspaces return
/// kNotFound, exactly like jobs that never existed.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// Whether a job of that kind and source that waits already makes a new one needless.
  enum class Join { kNo, kWaiting };
  /// Queues a job: its workspace, corpus, source, kind, input and due_at (the epoch: at once). With kWaiting it may return the job that
  /// waits already. kResourceExhausted: beyond kJobsWaitingMax. kInvalidArgument: the input is longer than kJobInputBytesMax.
  virtual Result<Job> enqueue(const CallContext& call, const Job& job, Join join) = 0;
  /// kNotFound.
  virtual Result<Job> job(const CallContext& call, WorkspaceId workspace, JobId id) const = 0;
  /// Newest first, with an id below `before` (none: all), at most `limit`.
  virtual Result<std::vector<Job>> jobs(const CallContext& call, WorkspaceId workspace, JobId before, std::size_t limit) const = 0;
  /// The newest job of a source, or nullopt.
  virtual Result<std::optional<Job>> last_job(const CallContext& call, SourceId source) const = 0;
  /// A waiting job ends at once, a running one when its worker notices (note() fails); one that ended stays as it is. Returns its state
  /// after the call.
  virtual Result<Job> cancel(const CallContext& call, WorkspaceId workspace, JobId id) = 0;

  /// Takes the job that is due longest, among those that wait and those whose worker's lease is over, and whose source has no running job.
  /// It then runs for `worker` until `until`. Jobs begun kJobAttemptsMax times fail instead. nullopt: nothing is due.
  virtual Result<std::optional<Job>> take(const CallContext& call, std::string_view worker, UtcTime now, UtcTime until) = 0;
  /// Stores the progress and extends the lease. kCancelled: somebody cancelled the job. kFailedPrecondition: it is no longer this worker's.
  virtual Result<void> note(const CallContext& call, JobId id, std::string_view worker, const JobProgress& progress, UtcTime until) = 0;
  /// Ends the job in a state that has_ended(); a cancelled one ends as kCancelled whatever `state` is. Forgets the oldest that ended beyond
  /// kJobsKeptMax. kFailedPrecondition: it is no longer this worker's.
  virtual Result<void> finish(const CallContext& call, JobId id, std::string_view worker, JobState state, const JobProgress& progress,
                              std::string_view error) = 0;
  /// Puts the job back into the queue, due at `due_at`, for another try. The tries so far count. kFailedPrecondition as above.
  virtual Result<void> postpone(const CallContext& call, JobId id, std::string_view worker, const JobProgress& progress,
                                std::string_view error, UtcTime due_at) = 0;
  /// Ends the leases of workers whose name starts so: their process is known to be gone. Their jobs can be taken again.
  virtual Result<void> abandon(const CallContext& call, std::string_view worker_prefix) = 0;
};

}  // namespace footnote
