#include "api/library_routes.h"

#include "answer/turn_trace.h"
#include "api/kb_filters.h"
#include "base/text.h"

namespace footnote::api {

namespace {

Result<std::int64_t> parse_number(std::string_view text, std::string_view field) {
  const auto value = parse_whole_number(text);
  if (value.value_or(-1) < 0) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' must be a whole number", field);
  return *value;
}

JsonObject render_listed(const Document& document) {
  return {{"document_id", document.id.value},
          {"source_path", document.key},
          {"title", document.attributes.title},
          {"url", document.attributes.url.empty() ? Json(nullptr) : Json(document.attributes.url)},
          {"version", document.version},
          {"content_hash", document.content_hash},
          {"media_type", document.attributes.media_type},
          {"chunks", document.chunk_count},
          {"indexed_at", to_rfc3339(document.indexed_at)}};
}

/// A page may have fewer documents than `limit` even if more follow: `next` tells.
Result<http::Response> documents(const LibraryServices& services, const access::Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t limit,
               parse_number(request.query_value("limit").value_or(std::to_string(kDocumentsPageDefault)), "limit"));
  if (limit < 1 || limit > kDocumentsPageMax) {
    return fail_field(ErrorCode::kInvalidArgument, "limit", "'limit' is from 1 to {}", kDocumentsPageMax);
  }
  FOOTNOTE_TRY(const Corpus corpus,
               services.catalog.find_corpus(call, caller.workspace, request.query_value("project_key").value_or(kDefaultCorpus)));
  const std::string_view after = request.query_value("after").value_or("");
  FOOTNOTE_TRY(const auto page, services.chunks.documents(call, corpus.id, after, static_cast<std::size_t>(limit)));
  JsonArray out;
  for (const Document& document : page) {
    if (may_see(caller, document.attributes.acl_labels)) out.emplace_back(render_listed(document));
  }
  const bool is_last = page.size() < static_cast<std::size_t>(limit);
  return http::Response::json(200, JsonObject{{"documents", std::move(out)},
                                              {"next", is_last ? Json(nullptr) : Json(page.back().key)},
                                              {"generation", corpus.generation}});
}

/// An old version is seen by whoever may see it and the live one.
bool may_see_text(const LibraryServices& services, const access::Caller& caller, const DocumentText& read, const CallContext& call) {
  if (!read.labelled || caller.may(KeyScope::kAdmin)) return true;
  const auto live = services.chunks.document_text(call, caller.workspace, read.document.id, 0);
  return live && may_see(caller, read.document.attributes.acl_labels) && may_see(caller, live->document.attributes.acl_labels);
}

Result<http::Response> preview(const LibraryServices& services, const access::Caller& caller, const http::Request& request,
                               const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, parse_number(request.param("id"), "id"));
  FOOTNOTE_TRY(const std::int64_t version, parse_number(request.query_value("version").value_or("0"), "version"));
  const auto read = services.chunks.document_text(call, caller.workspace, {id}, static_cast<int>(version));
  if (!read && read.error().code != ErrorCode::kNotFound) return std::unexpected(read.error());
  // The same message for a labelled document that the caller may not see, a deleted one, another workspace's, and one that never existed.
  if (!read || !may_see_text(services, caller, *read, call)) return fail(ErrorCode::kNotFound, "there is no document {}", id);
  const DocumentText& found = *read;
  const Document& document = found.document;
  return http::Response::json(200, JsonObject{{"document_id", document.id.value},
                                              {"version", document.version},
                                              {"title", document.attributes.title},
                                              {"source_path", document.key},
                                              {"url", document.attributes.url.empty() ? Json(nullptr) : Json(document.attributes.url)},
                                              {"media_type", document.attributes.media_type},
                                              {"text", found.text}});
}

Result<http::Response> corpora(const LibraryServices& services, const access::Caller& caller, const http::Request&,
                               const CallContext& call) {
  FOOTNOTE_TRY(const auto found, services.catalog.corpora(call, caller.workspace));
  JsonArray out;
  // Callers who may not set labels do not see labelled documents.
  const bool all = caller.may(KeyScope::kAdmin);
  for (const Corpus& corpus : found) {
    FOOTNOTE_TRY(const CorpusCounts counts, services.chunks.counts(call, corpus.id));
    out.push_back(JsonObject{{"name", corpus.name},
                             {"documents", counts.documents - (all ? 0 : counts.labelled_documents)},
                             {"chunks", counts.chunks - (all ? 0 : counts.labelled_chunks)},
                             {"generation", corpus.generation},
                             {"model", corpus.space.model_id}});
  }
  return http::Response::json(200, JsonObject{{"corpora", std::move(out)}});
}

/// Removes everything but scores from passages of labelled documents, if the caller may not set labels.
Result<std::string> without_labelled(std::string_view trace) {
  FOOTNOTE_TRY(Json value, parse_json(trace));
  for (Json& candidate : value.as_object()["candidates"].as_array()) {
    JsonObject& fields = candidate.as_object();
    if (!fields.contains(answer::kTraceLabelled)) continue;
    for (const std::string_view name : {"document_id", "version", "title", "source_path", "first_line", "place", "chunk_id"})
      fields[name] = nullptr;
  }
  return to_text(value);
}

Result<http::Response> turn_trace(const LibraryServices& services, const access::Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(std::string trace, services.conversations.trace(call, caller.workspace, {std::string(request.param("id"))}));
  if (!caller.may(KeyScope::kAdmin) && trace.find(answer::kTraceLabelled) != std::string::npos) {
    FOOTNOTE_TRY(trace, without_labelled(trace));
  }
  return http::Response::text(200, "application/json", std::move(trace));
}

}  // namespace

std::vector<Route> make_library_routes(const LibraryServices& services) {
  using http::Method;
  const Access read = Access::with(KeyScope::kRead);
  return {
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/corpora",
       .handler = bind(services, corpora),
       .summary = "The corpora of the workspace"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/kb/documents",
       .handler = bind(services, documents),
       .summary = "The documents of a corpus, page by page"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/kb/documents/{id}/preview",
       .handler = bind(services, preview),
       .summary = "A document's text; citation offsets refer to it"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/turns/{id}/trace",
       .handler = bind(services, turn_trace),
       .summary = "The trace of a turn: stages, times, candidates and why each was cut"},
  };
}

}  // namespace footnote::api
