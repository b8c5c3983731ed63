#include "providers/sqlite/sqlite_job_store.h"

#include "base/utf8.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

constexpr std::size_t kErrorBytesMax = 1'000;
constexpr std::size_t kPathBytesMax = 1'100;

std::unexpected<Error> no_job(JobId id) { return fail(ErrorCode::kNotFound, "there is no job {}", id.value); }

std::string short_text(std::string_view text, std::size_t bytes_max) { return std::string(utf8_prefix(repair_utf8(text), bytes_max)); }

std::string to_stored_text(const JobProgress& progress) {
  JsonArray errors;
  for (const JobError& error : progress.errors) {
    if (errors.size() == kJobErrorsMax) break;
    errors.push_back(JsonObject{{"path", short_text(error.path, kPathBytesMax)}, {"reason", short_text(error.reason, kErrorBytesMax)}});
  }
  JsonObject out{{"done", progress.done},       {"total", progress.total},     {"unit", progress.unit},
                 {"added", progress.added},     {"updated", progress.updated}, {"unchanged", progress.unchanged},
                 {"deleted", progress.deleted}, {"failed", progress.failed},   {"errors", std::move(errors)}};
  if (progress.eta_seconds) out["eta"] = *progress.eta_seconds;
  return to_text(out);
}

Result<JobProgress> progress_from(std::string_view text) {
  FOOTNOTE_TRY(const Json value, parse_json(text));
  bool damaged = false;
  const StoredObject object(value, damaged);
  JobProgress out{.done = object.integer("done"),
                  .total = object.integer("total"),
                  .unit = object.has("unit") ? object.text("unit") : "bytes",
                  .added = object.integer("added"),
                  .updated = object.integer("updated"),
                  .unchanged = object.integer("unchanged"),
                  .deleted = object.integer("deleted"),
                  .failed = object.integer("failed")};
  if (object.has("errors")) {
    for (const Json& entry : object.array("errors")) {
      const StoredObject error = object.element(entry);
      out.errors.push_back({error.text("path"), error.text("reason")});
    }
  }
  if (object.has("eta")) out.eta_seconds = object.integer("eta");
  if (damaged) return damaged_text("a job's progress");
  return out;
}

/// Reads columns id, workspace_id, corpus_id, source_id, kind, state, attempts, created_at, due_at, started_at, finished_at, error,
/// progress, input.
Result<Job> job_from(const sql::Statement& row) {
  const auto state = parse_job_state(row.text(5));
  if (!state) return damaged_text("a job's state");
  FOOTNOTE_TRY(JobProgress progress, progress_from(row.text(12)));
  return Job{.id = {row.integer(0)},
             .workspace = {row.integer(1)},
             .corpus = {row.integer(2)},
             .source = {row.integer(3)},
             .kind = std::string(row.text(4)),
             .input = std::string(row.text(13)),
             .state = *state,
             .progress = std::move(progress),
             .error = std::string(row.text(11)),
             .attempts = static_cast<int>(row.integer(6)),
             .created_at = time_from(row.integer(7)),
             .due_at = time_from(row.integer(8)),
             .started_at = time_from(row.optional_integer(9)),
             .finished_at = time_from(row.optional_integer(10))};
}

Result<std::optional<Job>> find_job(sql::Database& database, JobId id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, corpus_id, source_id, kind, state, attempts, created_at, due_at, "
                                           "started_at, finished_at, error, progress, input FROM jobs WHERE id = ?"));
  find.bind(id.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return std::nullopt;
  FOOTNOTE_TRY(Job job, job_from(find));
  return job;
}

Result<Job> job_of(sql::Database& database, WorkspaceId workspace, JobId id) {
  FOOTNOTE_TRY(auto job, find_job(database, id));
  if (!job || job->workspace != workspace) return no_job(id);
  return *std::move(job);
}

/// kFailedPrecondition unless the job runs for this worker. Returns whether somebody cancelled it.
Result<bool> check_worker(sql::Database& database, JobId id, std::string_view worker) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT cancelled FROM jobs WHERE id = ? AND worker = ? AND state = 'running'"));
  find.bind(id.value, worker);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return fail(ErrorCode::kFailedPrecondition, "job {} is no longer {}'s", id.value, worker);
  return find.integer(0) != 0;
}

Result<void> end_job(sql::Database& database, JobId id, JobState state, std::string_view error, UtcTime now) {
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE jobs SET state = ?2, error = ?3, finished_at = ?4, worker = '', lease_until = 0 "
                                             "WHERE id = ?1"));
  update.bind(id.value, to_string(state), short_text(error, kErrorBytesMax), to_row(now));
  return update.run();
}

Result<void> forget_oldest(sql::Database& database, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto forget, database.prepare("DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE workspace_id = ? "
                                             "AND finished_at IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)"));
  forget.bind(workspace.value, kJobsKeptMax);
  return forget.run();
}

/// Jobs that were begun too often, or cancelled while nobody worked on them, end.
Result<void> end_hopeless(sql::Database& database, UtcTime now) {
  FOOTNOTE_TRY(auto worn, database.prepare("UPDATE jobs SET state = 'failed', finished_at = ?1, worker = '', lease_until = 0, "
                                           "error = 'it was begun ' || attempts || ' times and never ended' "
                                           "WHERE finished_at IS NULL AND state = 'running' AND lease_until <= ?1 AND attempts >= ?2"));
  worn.bind(to_row(now), kJobAttemptsMax);
  FOOTNOTE_CHECK(worn.run());
  FOOTNOTE_TRY(auto cancelled, database.prepare("UPDATE jobs SET state = 'cancelled', finished_at = ?1, worker = '', lease_until = 0 "
                                                "WHERE finished_at IS NULL AND cancelled AND (state = 'queued' OR lease_until <= ?1)"));
  cancelled.bind(to_row(now));
  return cancelled.run();
}

}  // namespace

Result<void> cancel_jobs_of(sql::Database& database, SourceId source, UtcTime now) {
  FOOTNOTE_TRY(auto cancel, database.prepare("UPDATE jobs SET cancelled = 1, "
                                             "finished_at = CASE state WHEN 'queued' THEN ?2 END, "
                                             "state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END "
                                             "WHERE source_id = ?1 AND finished_at IS NULL"));
  cancel.bind(source.value, to_row(now));
  return cancel.run();
}

Result<Job> SqliteJobStore::enqueue(const CallContext& call, const Job& job, Join join) {
  if (job.input.size() > kJobInputBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "input", "a job's input has at most {} bytes", kJobInputBytesMax);
  }
  const UtcTime now = store_.clock().now();
  return store_.write(call, [&](sql::Database& database) -> Result<Job> {
    if (join == Join::kWaiting) {
      FOOTNOTE_TRY(auto same, database.prepare("SELECT id FROM jobs WHERE source_id = ? AND workspace_id = ? AND kind = ? "
                                               "AND state = 'queued' ORDER BY id LIMIT 1"));
      same.bind(job.source.value, job.workspace.value, job.kind);
      FOOTNOTE_TRY(const bool waits, same.step());
      if (waits) return job_of(database, job.workspace, {same.integer(0)});
    }
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM jobs WHERE workspace_id = ? AND finished_at IS NULL"));
    count.bind(job.workspace.value);
    FOOTNOTE_CHECK(count.step());
    if (count.integer(0) >= static_cast<std::int64_t>(kJobsWaitingMax)) {
      return fail(ErrorCode::kResourceExhausted, "{} jobs wait already; try again when some are done", kJobsWaitingMax);
    }
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO jobs (workspace_id, corpus_id, source_id, kind, state, created_at, due_at, "
                                               "progress, input) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?)"));
    insert.bind(job.workspace.value, to_row(job.corpus), to_row(job.source), job.kind, to_row(now), to_row(std::max(job.due_at, now)),
                to_stored_text(job.progress), job.input);
    FOOTNOTE_CHECK(insert.run());
    return job_of(database, job.workspace, {database.last_insert_id()});
  });
}

Result<Job> SqliteJobStore::job(const CallContext& call, WorkspaceId workspace, JobId id) const {
  return store_.read(call, [&](sql::Database& database) { return job_of(database, workspace, id); });
}

Result<std::vector<Job>> SqliteJobStore::jobs(const CallContext& call, WorkspaceId workspace, JobId before, std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Job>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, workspace_id, corpus_id, source_id, kind, state, attempts, created_at, due_at, "
                                             "started_at, finished_at, error, progress, input FROM jobs "
                                             "WHERE workspace_id = ?1 AND (?2 = 0 OR id < ?2) ORDER BY id DESC LIMIT ?3"));
    list.bind(workspace.value, before.value, limit_of(limit));
    return list.collect<Job>([](const sql::Statement& row) { return job_from(row); });
  });
}

Result<std::optional<Job>> SqliteJobStore::last_job(const CallContext& call, SourceId source) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::optional<Job>> {
    FOOTNOTE_TRY(auto newest, database.prepare("SELECT max(id) FROM jobs WHERE source_id = ?"));
    newest.bind(source.value);
    FOOTNOTE_CHECK(newest.step());
    return find_job(database, {newest.integer(0)});
  });
}

Result<Job> SqliteJobStore::cancel(const CallContext& call, WorkspaceId workspace, JobId id) {
  return store_.write(call, [&](sql::Database& database) -> Result<Job> {
    FOOTNOTE_TRY(const Job found, job_of(database, workspace, id));
    if (has_ended(found.state)) return found;
    FOOTNOTE_TRY(auto mark, database.prepare("UPDATE jobs SET cancelled = 1 WHERE id = ?"));
    mark.bind(id.value);
    FOOTNOTE_CHECK(mark.run());
    FOOTNOTE_CHECK(end_hopeless(database, store_.clock().now()));
    return job_of(database, workspace, id);
  });
}

Result<std::optional<Job>> SqliteJobStore::take(const CallContext& call, std::string_view worker, UtcTime now, UtcTime until) {
  const auto find = [&](sql::Database& database) -> Result<std::optional<JobId>> {
    FOOTNOTE_TRY(auto due, database.prepare(R"sql(
      SELECT j.id FROM jobs j
      WHERE j.finished_at IS NULL AND ((j.state = 'queued' AND j.due_at <= ?1) OR (j.state = 'running' AND j.lease_until <= ?1))
        AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.source_id = j.source_id AND r.state = 'running' AND r.lease_until > ?1 AND r.id <> j.id)
      ORDER BY j.due_at, j.id LIMIT 1)sql"));
    due.bind(to_row(now));
    FOOTNOTE_TRY(const bool found, due.step());
    return found ? std::optional(JobId{due.integer(0)}) : std::nullopt;
  };
  // Mostly nothing is due: do not queue behind the writer.
  FOOTNOTE_TRY(const auto any, store_.read(call, find));
  if (!any) return std::nullopt;
  return store_.write(call, [&](sql::Database& database) -> Result<std::optional<Job>> {
    FOOTNOTE_CHECK(end_hopeless(database, now));
    FOOTNOTE_TRY(const auto id, find(database));
    if (!id) return std::nullopt;
    FOOTNOTE_TRY(auto take, database.prepare("UPDATE jobs SET state = 'running', worker = ?2, lease_until = ?3, attempts = attempts + 1, "
                                             "started_at = coalesce(started_at, ?4), error = '' WHERE id = ?1"));
    take.bind(id->value, worker, to_row(until), to_row(now));
    FOOTNOTE_CHECK(take.run());
    return find_job(database, *id);
  });
}

Result<void> SqliteJobStore::note(const CallContext& call, JobId id, std::string_view worker, const JobProgress& progress, UtcTime until) {
  auto cancelled = store_.write(call, [&](sql::Database& database) -> Result<bool> {
    FOOTNOTE_TRY(const bool stop, check_worker(database, id, worker));
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE jobs SET progress = ?2, lease_until = ?3 WHERE id = ?1"));
    update.bind(id.value, to_stored_text(progress), to_row(until));
    FOOTNOTE_CHECK(update.run());
    return stop;
  });
  if (!cancelled) return std::unexpected(std::move(cancelled).error());
  if (*cancelled) return fail(ErrorCode::kCancelled, "job {} was cancelled", id.value);
  return {};
}

Result<void> SqliteJobStore::finish(const CallContext& call, JobId id, std::string_view worker, JobState state, const JobProgress& progress,
                                    std::string_view error) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(const bool cancelled, check_worker(database, id, worker));
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE jobs SET progress = ? WHERE id = ?"));
    update.bind(to_stored_text(progress), id.value);
    FOOTNOTE_CHECK(update.run());
    FOOTNOTE_CHECK(end_job(database, id, cancelled ? JobState::kCancelled : state, error, store_.clock().now()));
    FOOTNOTE_TRY(const auto job, find_job(database, id));
    return forget_oldest(database, job->workspace);
  });
}

Result<void> SqliteJobStore::postpone(const CallContext& call, JobId id, std::string_view worker, const JobProgress& progress,
                                      std::string_view error, UtcTime due_at) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(const bool cancelled, check_worker(database, id, worker));
    if (cancelled) return end_job(database, id, JobState::kCancelled, error, store_.clock().now());
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE jobs SET state = 'queued', worker = '', lease_until = 0, progress = ?2, error = ?3, "
                                               "due_at = ?4 WHERE id = ?1"));
    update.bind(id.value, to_stored_text(progress), short_text(error, kErrorBytesMax), to_row(due_at));
    return update.run();
  });
}

Result<void> SqliteJobStore::abandon(const CallContext& call, std::string_view worker_prefix) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE jobs SET lease_until = 0 WHERE finished_at IS NULL AND state = 'running' "
                                               "AND substr(worker, 1, length(?1)) = ?1"));
    update.bind(worker_prefix);
    return update.run();
  });
}

}  // namespace footnote
