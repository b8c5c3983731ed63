#include "api/source_routes.h"

#include "base/json.h"
#include "base/text.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kBodyBytesMax = 2 * kSourceContentBytesMax;
constexpr std::size_t kNameBytesMax = 200;
constexpr std::int64_t kIntervalSecondsMax = 366LL * 24 * 3600;

/// "pending", "crawling", "indexed", "failed": from the store alone.
std::string_view status_of(const SourceRecord& source, const std::optional<Job>& job) {
  if (job && job->state == JobState::kRunning) return "crawling";
  if (job && job->state == JobState::kQueued && !source.synced_at) return "pending";
  if (!source.error.empty()) return "failed";
  if (source.synced_at || source.spec.kind == SourceKind::kUpload) return "indexed";
  return job && job->state == JobState::kFailed ? "failed" : "pending";
}

Result<Json> render(const SourceServices& services, const CallContext& call, const SourceRecord& source) {
  FOOTNOTE_TRY(const SourceCounts counts, services.sources.counts(call, source.id));
  FOOTNOTE_TRY(const auto job, services.jobs.last_job(call, source.id));
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.corpus(call, source.spec.corpus));
  FOOTNOTE_TRY(const auto failures, services.sources.failures(call, source.id));
  JsonObject options;
  for (const auto& [name, value] : source.spec.options) options[name] = value;
  const bool is_folder = source.spec.kind == SourceKind::kFolder;
  const auto time = [](const std::optional<UtcTime>& at) { return at ? Json(to_rfc3339(*at)) : Json(nullptr); };
  return JsonObject{{"id", source.id.value},
                    {"kind", to_string(source.spec.kind)},
                    {"title", source.spec.title},
                    {is_folder ? "location" : "source_url", source.spec.location},
                    {"project_key", corpus.name},
                    {"status", status_of(source, job)},
                    {"documents", counts.documents},
                    {"chunks", counts.chunks},
                    {"failed", failures.size()},
                    {"options", std::move(options)},
                    {"interval_seconds", source.spec.interval.count()},
                    {"watch", source.spec.watch},
                    {"created_at", to_rfc3339(source.created_at)},
                    {"synced_at", time(source.synced_at)},
                    {"next_sync_at", time(source.next_at)},
                    {"error", source.error.empty() ? Json(nullptr) : Json(source.error)},
                    {"job_id", job ? Json(job->id.value) : Json(nullptr)}};
}

/// The description in a request, as its kind wants it stored.
Result<SourceSpec> parse_spec(const SourceServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(
      reader.only({"kind", "title", "content", "source_url", "location", "project_key", "options", "interval_seconds", "watch"}));
  SourceSpec spec;
  FOOTNOTE_TRY(const std::string kind, reader.required_string("kind", kNameBytesMax));
  const auto known = parse_source_kind(kind);
  const auto handler = known ? services.kinds.find(*known) : services.kinds.end();
  if (handler == services.kinds.end()) {
    std::vector<std::string> names;
    for (const auto& [each, unused] : services.kinds) names.emplace_back(to_string(each));
    return fail_field(ErrorCode::kInvalidArgument, "kind", "'kind' is one of: {}", join(names, ", "));
  }
  spec.kind = *known;
  FOOTNOTE_TRY(const auto title, reader.optional_string("title", kSourceTitleBytesMax));
  FOOTNOTE_TRY(const auto content, reader.optional_string("content", kSourceContentBytesMax));
  FOOTNOTE_TRY(const auto url, reader.optional_string("source_url", kSourceLocationBytesMax));
  FOOTNOTE_TRY(const auto location, reader.optional_string("location", kSourceLocationBytesMax));
  FOOTNOTE_TRY(const auto seconds, reader.optional_integer("interval_seconds", 0, kIntervalSecondsMax));
  FOOTNOTE_TRY(const auto watch, reader.optional_bool("watch"));
  FOOTNOTE_TRY(const auto corpus, reader.optional_string("project_key", kNameBytesMax));
  FOOTNOTE_TRY(const auto options, reader.optional_object("options"));
  if (url && location) return fail_field(ErrorCode::kInvalidArgument, "location", "'location' and 'source_url' are the same; send one");
  spec.title = title.value_or("");
  spec.content = content.value_or("");
  spec.location = url.value_or(location.value_or(""));
  spec.interval = std::chrono::seconds{seconds.value_or(0)};
  spec.watch = watch.value_or(false);
  if (spec.watch && spec.kind != SourceKind::kFolder) {
    return fail_field(ErrorCode::kInvalidArgument, "watch", "only folders can be watched; set 'interval_seconds'");
  }
  if (options) {
    for (const auto& [name, value] : body.get_object().at("options").get_object()) {
      if (value.is_structured() || value.is_null()) {
        return fail_field(ErrorCode::kInvalidArgument, "options", "option '{}' is a text, a number or a bool", std::string_view(name));
      }
      spec.options[std::string(name)] = value.is_string() ? std::string(value.get_string()) : to_text(value);
    }
  }
  FOOTNOTE_CHECK(check_source_spec(spec));
  FOOTNOTE_TRY(spec, handler->second->accept(std::move(spec)));
  // Last, so that a wrong request makes no corpus.
  FOOTNOTE_TRY(const Corpus into, services.catalog.ensure_corpus(call, caller.workspace, corpus.value_or(std::string(kDefaultCorpus)),
                                                                 services.embedder.space()));
  spec.corpus = into.id;
  return spec;
}

SourceId id_of(const http::Request& request) { return {parse_whole_number<std::int64_t>(request.param("id")).value_or(0)}; }

Result<http::Response> create(const SourceServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const SourceSpec spec, parse_spec(services, caller, request, call));
  FOOTNOTE_TRY(const SourceStore::Put put, services.sources.put(call, spec));
  // The same text again is indexed already.
  const bool is_known_text = !put.created && spec.kind == SourceKind::kText && put.record.synced_at && spec.location.starts_with("sha256:");
  if (!is_known_text) {
    FOOTNOTE_CHECK(queue_sync(call, services.jobs, put.record, kSyncJob));
    services.wake();
  }
  FOOTNOTE_TRY(const Json out, render(services, call, put.record));
  return http::Response::json(put.created ? 201 : 200, out);
}

Result<http::Response> list(const SourceServices& services, const Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto sources, services.sources.sources(call, caller.workspace));
  JsonArray out;
  for (const SourceRecord& source : sources) {
    FOOTNOTE_TRY(Json entry, render(services, call, source));
    out.push_back(std::move(entry));
  }
  return http::Response::json(200, JsonObject{{"sources", std::move(out)}});
}

Result<http::Response> show(const SourceServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const SourceRecord source, services.sources.source(call, caller.workspace, id_of(request)));
  FOOTNOTE_TRY(const Json out, render(services, call, source));
  return http::Response::json(200, out);
}

Result<http::Response> remove(const SourceServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const SourceRecord source, services.sources.source(call, caller.workspace, id_of(request)));
  FOOTNOTE_TRY(const std::size_t documents, services.sources.erase(call, caller.workspace, source.id));
  services.sync_indexes(call, source.spec.corpus);
  return http::Response::json(200, JsonObject{{"id", source.id.value}, {"deleted_documents", documents}});
}

Result<http::Response> resync(const SourceServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const SourceRecord source, services.sources.source(call, caller.workspace, id_of(request)));
  if (!services.kinds.contains(source.spec.kind)) {
    return fail(ErrorCode::kFailedPrecondition, "sources of kind {} are not synced: send the documents again", to_string(source.spec.kind));
  }
  // Somebody asks because something looks wrong: everything is read again.
  FOOTNOTE_TRY(const Job job, queue_sync(call, services.jobs, source, kDriftJob));
  services.wake();
  return http::Response::json(202, JsonObject{{"job", render_job(call, services.catalog, job)}});
}

/// The codes of this API for the access check; else ours.
std::string_view code_of(const Error& error) {
  if (error.code == ErrorCode::kPermissionDenied && error.field.empty()) return "missing_ability";
  if (error.code != ErrorCode::kUnauthenticated) return to_string(error.code);
  return error.message.starts_with("this needs an API key") ? "missing_token" : "invalid_token";
}

http::Response render_source_error(const Error& error) {
  http::Response response = render_error(error);
  JsonObject body{{"code", code_of(error)}, {"message", shown_message(error)}};
  if (!error.field.empty()) body["field"] = error.field;
  response.body = to_text(JsonObject{{"error", std::move(body)}});
  return response;
}

}  // namespace

Result<Job> queue_sync(const CallContext& call, JobStore& jobs, const SourceRecord& source, std::string_view kind) {
  const Job job{
      .id = {}, .workspace = source.workspace, .corpus = source.spec.corpus, .source = source.id, .kind = std::string(kind), .input = ""};
  return jobs.enqueue(call, job, JobStore::Join::kWaiting);
}

std::vector<Route> make_source_routes(const SourceServices& services) {
  using http::Method;
  const Access ingest = Access::with(KeyScope::kIngest);
  const std::string all = "/api/v1/workspace/sources";
  std::vector<Route> out = {
      {.access = ingest,
       .method = Method::kGet,
       .pattern = all,
       .handler = bind(services, list),
       .summary = "The sources of the workspace"},
      {.access = ingest,
       .method = Method::kPost,
       .pattern = all,
       .handler = bind(services, create),
       .body_bytes_max = kBodyBytesMax,
       .summary = "Add a source and index it in the background"},
      {.access = ingest,
       .method = Method::kGet,
       .pattern = all + "/{id}",
       .handler = bind(services, show),
       .summary = "A source, its status and its documents' count"},
      {.access = ingest,
       .method = Method::kDelete,
       .pattern = all + "/{id}",
       .handler = bind(services, remove),
       .summary = "Delete a source with its documents"},
      {.access = ingest,
       .method = Method::kPost,
       .pattern = all + "/{id}/resync",
       .handler = bind(services, resync),
       .summary = "Read a source again, all of it, in the background"},
  };
  for (Route& route : out) route.error_form = render_source_error;
  return out;
}

}  // namespace footnote::api
