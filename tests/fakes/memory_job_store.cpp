#include "fakes/memory_job_store.h"

#include <algorithm>
#include <ranges>

namespace footnote::fakes {

void MemoryJobStore::end(Stored& stored, JobState state, std::string_view error) {
  stored.job.state = state;
  stored.job.error = error;
  stored.job.finished_at = clock_.now();
  stored.worker.clear();
}

void MemoryJobStore::end_hopeless(UtcTime now) {
  for (auto& [id, stored] : jobs_) {
    if (has_ended(stored.job.state)) continue;
    const bool idle = stored.job.state == JobState::kQueued || stored.until <= now;
    if (idle && stored.cancelled) {
      end(stored, JobState::kCancelled, stored.job.error);
    } else if (stored.job.state == JobState::kRunning && idle && stored.job.attempts >= kJobAttemptsMax) {
      end(stored, JobState::kFailed, "it was begun too often and never ended");
    }
  }
}

Result<Job> MemoryJobStore::enqueue(const CallContext& call, const Job& job, Join join) {
  FOOTNOTE_CHECK(call.check());
  if (job.input.size() > kJobInputBytesMax) return fail_field(ErrorCode::kInvalidArgument, "input", "the input is too long");
  MutexLock lock(mutex_);
  std::size_t open = 0;
  for (const auto& [id, stored] : jobs_) {
    const bool same = stored.job.source == job.source && stored.job.workspace == job.workspace && stored.job.kind == job.kind;
    if (join == Join::kWaiting && same && stored.job.state == JobState::kQueued) return stored.job;
    open += stored.job.workspace == job.workspace && !has_ended(stored.job.state) ? 1 : 0;
  }
  if (open >= kJobsWaitingMax) return fail(ErrorCode::kResourceExhausted, "too many jobs wait");
  Stored made{.job = job};
  made.job.id = {++last_id_};
  made.job.state = JobState::kQueued;
  made.job.created_at = clock_.now();
  made.job.due_at = std::max(job.due_at, clock_.now());
  return jobs_.emplace(made.job.id, made).first->second.job;
}

Result<Job> MemoryJobStore::job(const CallContext&, WorkspaceId workspace, JobId id) const {
  MutexLock lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.job.workspace != workspace) return fail(ErrorCode::kNotFound, "no job {}", id.value);
  return found->second.job;
}

Result<std::vector<Job>> MemoryJobStore::jobs(const CallContext&, WorkspaceId workspace, JobId before, std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<Job> out;
  for (const auto& [id, stored] : jobs_ | std::views::reverse) {
    if (out.size() < limit && stored.job.workspace == workspace && (!before || id < before)) out.push_back(stored.job);
  }
  return out;
}

Result<std::optional<Job>> MemoryJobStore::last_job(const CallContext&, SourceId source) const {
  MutexLock lock(mutex_);
  for (const auto& [id, stored] : jobs_ | std::views::reverse) {
    if (stored.job.source == source) return stored.job;
  }
  return std::nullopt;
}

Result<Job> MemoryJobStore::cancel(const CallContext&, WorkspaceId workspace, JobId id) {
  MutexLock lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.job.workspace != workspace) return fail(ErrorCode::kNotFound, "no job {}", id.value);
  if (!has_ended(found->second.job.state)) found->second.cancelled = true;
  end_hopeless(clock_.now());
  return found->second.job;
}

Result<std::optional<Job>> MemoryJobStore::take(const CallContext&, std::string_view worker, UtcTime now, UtcTime until) {
  FOOTNOTE_CHECK(take_faults_.next());
  MutexLock lock(mutex_);
  end_hopeless(now);
  const auto source_is_busy = [&](SourceId source) FOOTNOTE_TSA(requires_capability(mutex_)) {
    return source && std::ranges::any_of(jobs_ | std::views::values, [&](const Stored& other) {
             return other.job.source == source && other.job.state == JobState::kRunning && other.until > now;
           });
  };
  Stored* best = nullptr;
  for (auto& [id, stored] : jobs_) {
    const bool waits = stored.job.state == JobState::kQueued && stored.job.due_at <= now;
    const bool left = stored.job.state == JobState::kRunning && stored.until <= now;
    if ((!waits && !left) || source_is_busy(stored.job.source)) continue;
    if (best == nullptr || stored.job.due_at < best->job.due_at) best = &stored;
  }
  if (best == nullptr) return std::nullopt;
  best->job.state = JobState::kRunning;
  best->job.error.clear();
  ++best->job.attempts;
  if (!best->job.started_at) best->job.started_at = now;
  best->worker = worker;
  best->until = until;
  return best->job;
}

Result<MemoryJobStore::Stored*> MemoryJobStore::own(JobId id, std::string_view worker) {
  const auto found = jobs_.find(id);
  const bool is_own = found != jobs_.end() && found->second.worker == worker && found->second.job.state == JobState::kRunning;
  if (!is_own) return fail(ErrorCode::kFailedPrecondition, "job {} is not {}'s", id.value, worker);
  return &found->second;
}

Result<void> MemoryJobStore::note(const CallContext&, JobId id, std::string_view worker, const JobProgress& progress, UtcTime until) {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * stored, own(id, worker));
  stored->job.progress = progress;
  stored->until = until;
  if (stored->cancelled) return fail(ErrorCode::kCancelled, "job {} was cancelled", id.value);
  return {};
}

Result<void> MemoryJobStore::finish(const CallContext&, JobId id, std::string_view worker, JobState state, const JobProgress& progress,
                                    std::string_view error) {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * stored, own(id, worker));
  stored->job.progress = progress;
  end(*stored, stored->cancelled ? JobState::kCancelled : state, error);
  const WorkspaceId workspace = stored->job.workspace;
  const auto ended = [&](const auto& entry) { return entry.second.job.workspace == workspace && has_ended(entry.second.job.state); };
  for (auto over = std::ranges::count_if(jobs_, ended) - static_cast<std::ptrdiff_t>(kJobsKeptMax); over > 0; --over) {
    jobs_.erase(std::ranges::find_if(jobs_, ended));
  }
  return {};
}

Result<void> MemoryJobStore::postpone(const CallContext&, JobId id, std::string_view worker, const JobProgress& progress,
                                      std::string_view error, UtcTime due_at) {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * stored, own(id, worker));
  if (stored->cancelled) {
    end(*stored, JobState::kCancelled, error);
    return {};
  }
  stored->job.progress = progress;
  stored->job.state = JobState::kQueued;
  stored->job.error = error;
  stored->job.due_at = due_at;
  stored->worker.clear();
  return {};
}

Result<void> MemoryJobStore::abandon(const CallContext&, std::string_view worker_prefix) {
  MutexLock lock(mutex_);
  for (auto& [id, stored] : jobs_) {
    if (stored.job.state == JobState::kRunning && stored.worker.starts_with(worker_prefix)) stored.until = {};
  }
  return {};
}

void MemoryJobStore::cancel_jobs_of(SourceId source) {
  MutexLock lock(mutex_);
  for (auto& [id, stored] : jobs_) {
    if (stored.job.source != source || has_ended(stored.job.state)) continue;
    stored.cancelled = true;
    if (stored.job.state == JobState::kQueued) end(stored, JobState::kCancelled, "");
  }
}

}  // namespace footnote::fakes
