#include "api/document_routes.h"

#include "base/json.h"
#include "base/text.h"
#include "http/url.h"
#include "ingest/near_duplicates.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::string_view kDownload = "application/octet-stream";
constexpr std::chrono::minutes kRestoreTimeout{5};
constexpr std::chrono::minutes kCompareTimeout{5};
constexpr double kLikenessMinDefault = 0.8;

DocumentId id_of(const http::Request& request) { return {parse_whole_number<std::int64_t>(request.param("id")).value_or(0)}; }

std::unexpected<Error> no_document(const http::Request& request) {
  return fail(ErrorCode::kNotFound, "there is no document {}", request.param("id"));
}

/// The same answer for what is not there, belongs to others, or has labels that the caller may not name.
bool is_hidden(const Caller& caller, bool labelled) { return labelled && !caller.may(KeyScope::kAdmin); }

Result<DocumentText> find(const DocumentServices& services, const Caller& caller, const http::Request& request, const CallContext& call,
                          int version) {
  auto found = services.chunks.document_text(call, caller.workspace, id_of(request), version);
  if (!found && found.error().code != ErrorCode::kNotFound) return found;
  if (!found || is_hidden(caller, found->labelled)) return no_document(request);
  return found;
}

Result<int> parse_version(std::string_view text) {
  const auto number = parse_whole_number<int>(text);
  if (!number || *number < 0) return fail_field(ErrorCode::kInvalidArgument, "version", "'version' is a number from 1; 0 is the live one");
  return *number;
}

Result<http::Response> versions(const DocumentServices& services, const Caller& caller, const http::Request& request,
                                const CallContext& call) {
  FOOTNOTE_TRY(const DocumentText live, find(services, caller, request, call, 0));
  FOOTNOTE_TRY(const auto all, services.chunks.versions(call, caller.workspace, live.document.id));
  JsonArray out;
  for (const DocumentVersion& version : all) {
    if (is_hidden(caller, !version.document.attributes.acl_labels.empty())) continue;
    out.push_back(JsonObject{{"version", version.document.version},
                             {"title", version.document.attributes.title},
                             {"content_hash", version.document.content_hash},
                             {"media_type", version.document.attributes.media_type},
                             {"chunks", version.document.chunk_count},
                             {"indexed_at", to_rfc3339(version.document.indexed_at)},
                             {"replaced_at", version.replaced_at ? Json(to_rfc3339(*version.replaced_at)) : Json(nullptr)},
                             {"has_original", version.has_original}});
  }
  return http::Response::json(
      200, JsonObject{{"document_id", live.document.id.value}, {"source_path", live.document.key}, {"versions", std::move(out)}});
}

/// The file as it came. Whatever it is, a browser runs nothing of it: its type is one of a few, and the page may do nothing.
Result<http::Response> original(const DocumentServices& services, const Caller& caller, const http::Request& request,
                                const CallContext& call) {
  FOOTNOTE_TRY(const int version, parse_version(request.query_value("version").value_or("0")));
  FOOTNOTE_TRY(const DocumentText known, find(services, caller, request, call, version));
  FOOTNOTE_TRY(DocumentOriginal file, services.chunks.original(call, caller.workspace, known.document.id, known.document.version));
  const std::string_view type = safe_content_type(file.document.attributes.media_type);
  const std::string name(file.document.key.substr(file.document.key.rfind('/') + 1));
  http::Response response = http::Response::text(200, type, std::move(file.bytes));
  response.headers.set("content-disposition",
                       fmt::format("{}; filename*=UTF-8''{}", type == kDownload ? "attachment" : "inline", http::percent_encode(name)));
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("content-security-policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:");
  response.headers.set("cache-control", "private, no-cache");
  response.headers.set("etag", fmt::format("\"{}\"", file.document.content_hash));
  return response;
}

/// A version's bytes and attributes, as if they were sent again.
ingest::MemoryDocument document_of(DocumentOriginal file) {
  const DocumentAttributes& attributes = file.document.attributes;
  ingest::MemoryDocument out{.key = file.document.key, .media_type = attributes.media_type, .content = std::move(file.bytes)};
  out.title = attributes.title;
  out.url = attributes.url;
  out.language = attributes.language;
  out.canonical_type = attributes.canonical_type;
  out.status = attributes.status;
  out.evidence = attributes.evidence;
  out.priority = attributes.priority;
  out.tags = attributes.tags;
  out.acl_labels = attributes.acl_labels;
  out.updated_at = attributes.updated_at;
  return out;
}

Result<http::Response> restore(const DocumentServices& services, const Caller& caller, const http::Request& request,
                               const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"version"}));
  FOOTNOTE_TRY(const auto wanted, reader.optional_integer("version", 1, std::numeric_limits<int>::max()));
  if (!wanted) return fail_field(ErrorCode::kInvalidArgument, "version", "'version' names the version to return to");
  FOOTNOTE_TRY(const DocumentText known, find(services, caller, request, call, static_cast<int>(*wanted)));
  FOOTNOTE_TRY(DocumentOriginal file, services.chunks.original(call, caller.workspace, known.document.id, known.document.version));
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.corpus(call, known.document.corpus));
  const ingest::MemoryDocument document = document_of(std::move(file));
  ingest::IngestOptions options = services.options;
  options.foreign_key = ingest::ForeignKey::kTakeOver;
  FOOTNOTE_TRY(const auto report, services.ingestor.ingest_documents(call, corpus, known.document.source, {&document, 1}, options));
  for (const ingest::Problem& problem : report.problems) {
    if (problem.kind == ingest::ProblemKind::kProblem) return fail(ErrorCode::kFailedPrecondition, "{}: {}", problem.path, problem.reason);
  }
  FOOTNOTE_TRY(const DocumentText live, find(services, caller, request, call, 0));
  return http::Response::json(200, JsonObject{{"document_id", live.document.id.value},
                                              {"version", live.document.version},
                                              {"restored_version", *wanted},
                                              {"chunks", live.document.chunk_count}});
}

Result<http::Response> duplicates(const DocumentServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const Corpus corpus,
               services.catalog.find_corpus(call, caller.workspace, request.query_value("project_key").value_or(kDefaultCorpus)));
  FOOTNOTE_TRY(const auto pairs, ingest::near_duplicates(call, services.chunks, corpus, kLikenessMinDefault, caller.may(KeyScope::kAdmin)));
  const auto render = [](const Document& document) {
    return JsonObject{{"document_id", document.id.value}, {"source_path", document.key}, {"title", document.attributes.title}};
  };
  JsonArray out;
  for (const ingest::DuplicatePair& pair : pairs) {
    out.push_back(JsonObject{{"likeness", pair.likeness}, {"documents", JsonArray{render(pair.a), render(pair.b)}}});
  }
  return http::Response::json(200, JsonObject{{"pairs", std::move(out)}});
}

Result<http::Response> remove(const DocumentServices& services, const Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(const DocumentText live, find(services, caller, request, call, 0));
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.corpus(call, live.document.corpus));
  FOOTNOTE_TRY(const auto report, services.ingestor.delete_documents(call, corpus, {&live.document.key, 1}));
  return http::Response::json(200, JsonObject{{"document_id", live.document.id.value},
                                              {"source_path", live.document.key},
                                              {"deleted", report.deleted > 0},
                                              {"generation", report.generation}});
}

}  // namespace

std::string_view safe_content_type(std::string_view media_type) {
  if (media_type == "application/pdf") return "application/pdf";
  const bool is_text = media_type.starts_with("text/") || media_type == "application/json" || media_type == "application/x-ndjson" ||
                       media_type == "application/yaml" || media_type == "application/x-ipynb+json";
  return is_text ? "text/plain; charset=utf-8" : kDownload;
}

std::vector<Route> make_document_routes(const DocumentServices& services) {
  using http::Method;
  const Access read = Access::with(KeyScope::kRead);
  const Access ingest = Access::with(KeyScope::kIngest);
  return {
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/kb/documents/{id}/versions",
       .handler = bind(services, versions),
       .summary = "The versions of a document that are kept"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/kb/documents/{id}/original",
       .handler = bind(services, original),
       .summary = "The file that a document was read from"},
      {.access = ingest,
       .method = Method::kPost,
       .pattern = "/api/kb/documents/{id}/restore",
       .handler = bind(services, restore),
       .timeout = kRestoreTimeout,
       .summary = "Return to an old version of a document"},
      {.access = read,
       .method = Method::kGet,
       .pattern = "/api/kb/duplicates",
       .handler = bind(services, duplicates),
       .timeout = kCompareTimeout,
       .summary = "Pairs of documents with nearly the same text"},
      {.access = ingest,
       .method = Method::kDelete,
       .pattern = "/api/kb/documents/{id}",
       .handler = bind(services, remove),
       .summary = "Delete a document"},
  };
}

}  // namespace footnote::api
