#include "api/job_routes.h"

#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "base/waiting.h"

namespace footnote::api {
namespace {

using access::Caller;

/// A job's events are read from the store this often.
constexpr std::chrono::milliseconds kEventsEvery{250};
constexpr std::chrono::hours kEventsTimeout{6};

Result<std::int64_t> number_in(std::string_view text, std::string_view field, std::int64_t min, std::int64_t max) {
  const auto number = parse_whole_number<std::int64_t>(text);
  if (number && *number >= min && *number <= max) return *number;
  return fail_field(ErrorCode::kInvalidArgument, field, "'{}' is a number from {} to {}", field, min, max);
}

/// An id that is no number names nothing.
JobId id_of(const http::Request& request) { return {parse_whole_number<std::int64_t>(request.param("id")).value_or(0)}; }

Result<http::Response> list(const JobServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t limit,
               number_in(request.query_value("limit").value_or(std::to_string(kJobsPageDefault)), "limit", 1, kJobsPageMax));
  FOOTNOTE_TRY(const std::int64_t before,
               number_in(request.query_value("before").value_or("0"), "before", 0, std::numeric_limits<std::int64_t>::max()));
  FOOTNOTE_TRY(const auto jobs, services.jobs.jobs(call, caller.workspace, {before}, static_cast<std::size_t>(limit)));
  JsonArray out;
  for (const Job& job : jobs) out.push_back(render_job(call, services.catalog, job));
  const bool is_last = jobs.size() < static_cast<std::size_t>(limit);
  return http::Response::json(200, JsonObject{{"jobs", std::move(out)}, {"next", is_last ? Json(nullptr) : Json(jobs.back().id.value)}});
}

Result<http::Response> show(const JobServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Job job, services.jobs.job(call, caller.workspace, id_of(request)));
  return http::Response::json(200, render_job(call, services.catalog, job));
}

Result<http::Response> cancel(const JobServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Job job, services.jobs.cancel(call, caller.workspace, id_of(request)));
  return http::Response::json(200, render_job(call, services.catalog, job));
}

/// Sends the job whenever it changed, until it ends.
void events(const JobServices& services, const Caller& caller, const http::Request& request, const CallContext& call,
            http::ResponseStream& response) {
  const JobId id = id_of(request);
  auto job = services.jobs.job(call, caller.workspace, id);
  if (!job) return response.reply(render_error(job.error()));
  http::SseWriter& writer = response.start_sse({});
  std::string last;
  while (job) {
    std::string now = to_text(render_job(call, services.catalog, *job));
    if (now != last && !writer.send(now)) return;
    last = std::move(now);
    if (has_ended(job->state)) return;
    {
      const Waiting waiting;
      std::this_thread::sleep_for(kEventsEvery);
    }
    if (!call.check()) return;
    job = services.jobs.job(call, caller.workspace, id);
  }
}

}  // namespace

Json render_job(const CallContext& call, const CatalogStore& catalog, const Job& job) {
  const JobProgress& progress = job.progress;
  JsonArray errors;
  for (const JobError& error : progress.errors) errors.push_back(JsonObject{{"path", error.path}, {"reason", error.reason}});
  const auto corpus = job.corpus ? catalog.corpus(call, job.corpus) : Result<Corpus>(fail(ErrorCode::kNotFound, "no corpus"));
  JsonObject out{{"id", job.id.value},
                 {"kind", job.kind},
                 {"state", to_string(job.state)},
                 {"corpus", corpus ? Json(corpus->name) : Json(nullptr)},
                 {"source_id", job.source ? Json(job.source.value) : Json(nullptr)},
                 {"done", progress.done},
                 {"total", progress.total},
                 {"unit", progress.unit},
                 {"documents", JsonObject{{"added", progress.added},
                                          {"updated", progress.updated},
                                          {"unchanged", progress.unchanged},
                                          {"deleted", progress.deleted},
                                          {"failed", progress.failed}}},
                 {"errors", std::move(errors)},
                 {"error", job.error.empty() ? Json(nullptr) : Json(job.error)},
                 {"attempts", job.attempts},
                 {"created_at", to_rfc3339(job.created_at)}};
  if (job.started_at) out["started_at"] = to_rfc3339(*job.started_at);
  if (job.finished_at) out["finished_at"] = to_rfc3339(*job.finished_at);
  if (progress.eta_seconds && job.state == JobState::kRunning) out["eta_seconds"] = *progress.eta_seconds;
  return out;
}

std::vector<Route> make_job_routes(const JobServices& services) {
  using http::Method;
  const Access ingest = Access::with(KeyScope::kIngest);
  const auto stream = [services](const Caller& caller, const http::Request& request, const CallContext& call,
                                 http::ResponseStream& response) { events(services, caller, request, call, response); };
  return {
      {.access = ingest,
       .method = Method::kGet,
       .pattern = "/api/jobs",
       .handler = bind(services, list),
       .summary = "Background jobs, newest first"},
      {.access = ingest,
       .method = Method::kGet,
       .pattern = "/api/jobs/{id}",
       .handler = bind(services, show),
       .summary = "A background job and how far it is"},
      {.access = ingest,
       .method = Method::kGet,
       .pattern = "/api/jobs/{id}/events",
       .handler = StreamHandler(stream),
       .lane = http::Lane::kWaitingWorker,
       .timeout = kEventsTimeout,
       .summary = "A job's progress (server-sent events), until it ends"},
      {.access = ingest,
       .method = Method::kDelete,
       .pattern = "/api/jobs/{id}",
       .handler = bind(services, cancel),
       .summary = "Cancel a job; what it has committed stays"},
  };
}

}  // namespace footnote::api
