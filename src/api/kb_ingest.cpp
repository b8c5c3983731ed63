#include "api/kb_ingest.h"

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/json_size.h"
#include "base/log.h"
#include "base/page_url.h"

namespace footnote::api {

namespace {

constexpr std::size_t kPathBytesMax = 1'024;
constexpr std::size_t kContentBytesMax = 16 << 20;
constexpr std::size_t kBase64BytesMax = kContentBytesMax / 3 * 4 + 4;
constexpr std::size_t kPresentKeysMax = 1'000'000;
constexpr std::size_t kAttributeEntriesMax = 50;
constexpr std::size_t kAttributeBytesMax = 200;

struct IngestBody {
  std::string corpus_name{kDefaultCorpus};
  std::optional<std::string> folder;
  std::optional<ingest::FolderListing> listing;  ///< Set in a folder's last call.
  ingest::IngestOptions options;
  std::vector<ingest::MemoryDocument> documents;
};

Result<std::optional<UtcTime>> parse_time(const JsonReader& reader, std::string_view field) {
  FOOTNOTE_TRY(const auto text, reader.optional_string(field, kAttributeBytesMax));
  if (!text) return std::nullopt;
  const auto time = parse_rfc3339(*text);
  if (!time) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' is a time like 2027-01-31T12:00:00Z", field);
  return *time;
}

/// The document's attributes; missing ones are read from the text.
Result<void> parse_attributes(const JsonReader& reader, ingest::MemoryDocument& document) {
  FOOTNOTE_TRY(const auto url, reader.optional_string("url", kPageUrlBytesMax));
  FOOTNOTE_TRY(const auto language, reader.optional_string("language", kAttributeBytesMax));
  FOOTNOTE_TRY(const auto tags, reader.optional_strings("tags", kAttributeEntriesMax, kAttributeBytesMax));
  FOOTNOTE_TRY(const auto labels, reader.optional_strings("acl_labels", kAttributeEntriesMax, kAttributeBytesMax));
  FOOTNOTE_TRY(const auto tier, reader.optional_string("evidence_tier", kAttributeBytesMax));
  FOOTNOTE_TRY(const auto status, reader.optional_string("status", kAttributeBytesMax));
  FOOTNOTE_TRY(document.updated_at, parse_time(reader, "updated_at"));
  if (url && !canonical_url(*url)) return fail_field(ErrorCode::kInvalidArgument, "url", "'url' must be a web address: https://...");
  document.url = url.value_or("");
  document.language = language.value_or("");
  if (tags) document.tags = *tags;
  if (labels) document.acl_labels = *labels;
  if (tier) document.evidence = parse_evidence_tier(*tier);
  if (tier && !document.evidence) return fail_field(ErrorCode::kInvalidArgument, "evidence_tier", "unknown evidence tier '{}'", *tier);
  if (status) document.status = parse_document_status(*status);
  if (status && !document.status) return fail_field(ErrorCode::kInvalidArgument, "status", "unknown status '{}'", *status);
  return {};
}

/// Content as text, or as bytes that need not be UTF-8.
Result<std::string> parse_content(const JsonReader& reader) {
  FOOTNOTE_TRY(const auto encoded, reader.optional_string("content_base64", kBase64BytesMax));
  if (!encoded) return reader.required_string("content", kContentBytesMax);
  FOOTNOTE_TRY(const auto text, reader.optional_string("content", kContentBytesMax));
  auto bytes = decode_base64(*encoded);
  if (text || !bytes || bytes->size() > kContentBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "content_base64",
                      "'content_base64' is base64 of at most {} bytes, in place of 'content'", kContentBytesMax);
  }
  return bytes;
}

Result<ingest::MemoryDocument> parse_document(const JsonReader& reader) {
  FOOTNOTE_CHECK(reader.only({"project_key", "source_path", "title", "mime_type", "content", "content_base64", "url", "language", "tags",
                              "evidence_tier", "status", "updated_at", "acl_labels"}));
  ingest::MemoryDocument document;
  FOOTNOTE_TRY(document.key, reader.required_string("source_path", kPathBytesMax));
  if (const std::string wrong = ingest::key_problem(document.key); !wrong.empty()) {
    return fail_field(ErrorCode::kInvalidArgument, "source_path", "'source_path': {}", wrong);
  }
  FOOTNOTE_TRY(document.content, parse_content(reader));
  FOOTNOTE_TRY(const auto title, reader.optional_string("title", kPathBytesMax));
  FOOTNOTE_TRY(const auto media_type, reader.optional_string("mime_type", 200));
  document.title = title.value_or("");
  document.media_type = media_type.value_or("");
  FOOTNOTE_CHECK(parse_attributes(reader, document));
  return document;
}

/// The source of the documents, and whether to delete those whose file is gone.
Result<void> parse_folder(const JsonReader& reader, IngestBody& body) {
  FOOTNOTE_TRY(body.folder, reader.optional_string("folder", kPathBytesMax));
  for (const std::string_view field : {"present", "unknown", "prefix", "listed_at", "keep_deleted"}) {
    if (!body.folder && reader.has(field)) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' needs the 'folder'", field);
  }
  if (!body.folder) return {};
  body.options.origin = ingest::Origin::kFile;
  FOOTNOTE_TRY(const auto keep_deleted, reader.optional_bool("keep_deleted"));
  body.options.prune = keep_deleted.value_or(false) ? ingest::Prune::kOff : ingest::Prune::kOn;
  FOOTNOTE_TRY(auto present, reader.optional_strings("present", kPresentKeysMax, kPathBytesMax));
  FOOTNOTE_TRY(auto unknown, reader.optional_strings("unknown", kPresentKeysMax, kPathBytesMax));
  FOOTNOTE_TRY(const auto prefix, reader.optional_string("prefix", kPathBytesMax));
  FOOTNOTE_TRY(const auto listed_at, parse_time(reader, "listed_at"));
  if (!present) return {};
  body.listing.emplace(prefix.value_or(""), *std::move(present), std::move(unknown).value_or(std::vector<std::string>{}), listed_at);
  return {};
}

Result<IngestBody> parse_body(const http::Request& request, ingest::Secrets secrets) {
  FOOTNOTE_TRY(const Json json, parse_request_json(request.body, json_values_max(request.body.size())));  // 'present' is a long list
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(json));
  FOOTNOTE_CHECK(reader.only({"documents", "project_key", "folder", "prefix", "present", "unknown", "listed_at", "keep_deleted",
                              "take_over", "profile", "allow_secrets"}));
  FOOTNOTE_TRY(const JsonArray* documents, reader.required_array("documents", kIngestDocumentsMax));
  IngestBody body;
  FOOTNOTE_CHECK(parse_folder(reader, body));
  // Two folders must not silently overwrite each other's README.md; a text sent by a client is intentional.
  FOOTNOTE_TRY(const auto take_over, reader.optional_bool("take_over"));
  body.options.foreign_key = take_over.value_or(!body.folder) ? ingest::ForeignKey::kTakeOver : ingest::ForeignKey::kReport;
  FOOTNOTE_TRY(const auto profile, reader.optional_string("profile", kAttributeBytesMax));
  if (profile && *profile != "kb" && *profile != "proxy") {
    return fail_field(ErrorCode::kInvalidArgument, "profile", "unknown profile '{}'; use kb or proxy", *profile);
  }
  FOOTNOTE_TRY(const auto allow_secrets, reader.optional_bool("allow_secrets"));
  body.options.secrets = secrets;
  if (allow_secrets) body.options.secrets = *allow_secrets ? ingest::Secrets::kAllow : ingest::Secrets::kKeepOut;
  if (profile == "proxy") body.options.chunking.cut = chunk::Cut::kWindows;
  FOOTNOTE_TRY(std::optional<std::string> corpus, reader.optional_string("project_key", 200));
  for (std::size_t i = 0; i < documents->size(); ++i) {
    const std::string path = fmt::format("documents[{}]", i);
    FOOTNOTE_TRY(const JsonReader entry, JsonReader::of((*documents)[i], path));
    FOOTNOTE_TRY(const auto name, entry.optional_string("project_key", 200));
    const std::string wanted = name.value_or(corpus.value_or(std::string(kDefaultCorpus)));
    if (corpus && *corpus != wanted) {
      return fail_field(ErrorCode::kInvalidArgument, path + ".project_key", "the documents of one call must share one project_key");
    }
    corpus = wanted;
    FOOTNOTE_TRY(auto document, parse_document(entry));
    body.documents.push_back(std::move(document));
  }
  if (corpus) body.corpus_name = *corpus;
  return body;
}

void count_ingest(Metrics& metrics, const CallContext& call, const ingest::IngestReport& report, std::size_t failed) {
  const std::pair<std::string_view, std::size_t> documents[] = {{"added", report.added},
                                                                {"updated", report.updated},
                                                                {"unchanged", report.unchanged},
                                                                {"deleted", report.deleted},
                                                                {"failed", failed}};
  for (const auto& [result, count] : documents) {
    metrics.counter("footnote_ingest_documents_total", "Documents sent to be ingested, by result", {{"result", std::string(result)}})
        .add(count);
  }
  metrics.counter("footnote_ingest_secret_passages_total", "Passages kept out because they hold a password, a token or a private key")
      .add(report.secret_passages);
  const std::pair<std::string_view, std::size_t> chunks[] = {{"embedded", report.embedded_chunks}, {"reused", report.reused_chunks}};
  for (const auto& [result, count] : chunks) {
    metrics
        .counter("footnote_ingest_chunks_total", "Passages of ingested documents, by where their vectors came from",
                 {{"result", std::string(result)}})
        .add(count);
  }
  log(LogLevel::kDebug, "ingest", "documents", call,
      {{"added", report.added},
       {"updated", report.updated},
       {"unchanged", report.unchanged},
       {"deleted", report.deleted},
       {"failed", failed},
       {"secret_passages", report.secret_passages},
       {"chunks_embedded", report.embedded_chunks},
       {"generation", report.generation}});
}

/// The result of one call, per document.
struct Outcome {
  ingest::IngestReport report;
  std::set<std::string> changed;  ///< Added or updated.
  std::set<std::string> unchanged;
  std::vector<std::string> deleted;
};

Result<Outcome> run_ingest(const Services& services, const CallContext& call, const Corpus& corpus, const IngestBody& body) {
  const SourceKind kind = body.folder ? SourceKind::kFolder : SourceKind::kUpload;
  FOOTNOTE_TRY(const Source source, services.catalog.ensure_source(call, corpus.id, kind, body.folder.value_or("")));
  Outcome out;
  const auto progress = [&](const ingest::IngestProgress& step) {
    switch (step.change) {
      case ingest::DocumentChange::kAdded:
      case ingest::DocumentChange::kUpdated: out.changed.insert(step.key); break;
      case ingest::DocumentChange::kUnchanged: out.unchanged.insert(step.key); break;
      case ingest::DocumentChange::kDeleted: out.deleted.push_back(step.key); break;
    }
  };
  FOOTNOTE_TRY(out.report, services.ingestor.ingest_documents(call, corpus, source.id, body.documents, body.options, progress));
  if (!body.listing) return out;
  if (body.options.prune == ingest::Prune::kOn) {
    FOOTNOTE_TRY(const auto pruned, services.ingestor.prune(call, corpus, source.id, *body.listing, progress));
    out.report.deleted += pruned.deleted;
    out.report.generation = std::max(out.report.generation, pruned.generation);
  }
  // The documents are stored: if marking fails, the next ingest does it.
  if (const auto marked = services.catalog.mark_synced(call, source.id, services.clock.now()); !marked) {
    log(LogLevel::kWarn, "ingest", "could not mark a source as synchronised", call, {{"error", marked.error().message}});
  }
  return out;
}

/// "failed", "unchanged", "indexed", or "kept_out": nothing was stored because of a secret
std::string_view status_of(const Outcome& outcome, const std::string& key) {
  const auto failed = [&](const ingest::Problem& problem) { return problem.path == key && problem.kind == ingest::ProblemKind::kProblem; };
  if (std::ranges::any_of(outcome.report.problems, failed)) return "failed";
  if (outcome.unchanged.contains(key)) return "unchanged";
  return outcome.changed.contains(key) ? "indexed" : "kept_out";
}

/// The response field for this kind of problem.
std::string_view field_of(ingest::ProblemKind kind) {
  switch (kind) {
    case ingest::ProblemKind::kProblem: return "error";
    case ingest::ProblemKind::kSecret: return "kept_out";
    case ingest::ProblemKind::kWarning:
    case ingest::ProblemKind::kIgnored: return "warning";
  }
  return {};
}

Result<JsonObject> render_document(const Services& services, const CallContext& call, const Corpus& corpus, const Outcome& outcome,
                                   const std::string& key) {
  const std::string_view status = status_of(outcome, key);
  JsonObject entry{{"source_path", key}, {"status", status}};
  for (const ingest::Problem& problem : outcome.report.problems) {
    if (problem.path == key) entry[field_of(problem.kind)] = problem.reason;
  }
  if (status != "indexed") return entry;
  FOOTNOTE_TRY(const std::optional<Document> document, services.chunks.find_document(call, corpus.id, key));
  if (document) {
    entry["version"] = document->version;
    entry["content_hash"] = document->content_hash;
    entry["chunks"] = document->chunk_count;
  }
  return entry;
}

}  // namespace

Result<http::Response> ingest_documents(const Services& services, const access::Caller& caller, const http::Request& request,
                                        const CallContext& call) {
  FOOTNOTE_TRY(IngestBody body, parse_body(request, services.secrets));
  body.options.originals = services.originals;
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.ensure_corpus(call, caller.workspace, body.corpus_name, services.embedder.space()));
  FOOTNOTE_TRY(const Outcome outcome, run_ingest(services, call, corpus, body));
  const ingest::IngestReport& report = outcome.report;
  JsonArray documents;
  std::size_t failed = 0;
  std::size_t indexed = 0;
  for (const ingest::MemoryDocument& document : body.documents) {
    FOOTNOTE_TRY(JsonObject entry, render_document(services, call, corpus, outcome, document.key));
    failed += status_of(outcome, document.key) == "failed";
    indexed += status_of(outcome, document.key) == "indexed";
    documents.emplace_back(std::move(entry));
  }
  count_ingest(services.metrics, call, report, failed);
  return http::Response::json(failed == 0 ? 200 : 207, JsonObject{{"indexed", indexed},
                                                                  {"added", report.added},
                                                                  {"updated", report.updated},
                                                                  {"unchanged", outcome.unchanged.size()},
                                                                  {"failed", failed},
                                                                  {"secret_passages", report.secret_passages},
                                                                  {"deleted", JsonArray(outcome.deleted.begin(), outcome.deleted.end())},
                                                                  {"chunks", report.chunks},
                                                                  {"chunks_embedded", report.embedded_chunks},
                                                                  {"chunks_reused", report.reused_chunks},
                                                                  {"generation", report.generation},
                                                                  {"documents", std::move(documents)}});
}

}  // namespace footnote::api
