#include "api/kb_ingest.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/log.h"
#include "base/page_url.h"

namespace footnote::api {

namespace {

constexpr std::size_t kPathBytesMax = 1'024;
constexpr std::size_t kContentBytesMax = 16 << 20;
constexpr std::size_t kPresentKeysMax = 1'000'000;
constexpr std::size_t kDocumentsPage = 1'000;
constexpr std::size_t kAttributeEntriesMax = 50;
constexpr std::size_t kAttributeBytesMax = 200;

struct IngestBody {
  std::string corpus_name{kDefaultCorpus};
  std::optional<std::string> folder;
  std::optional<std::vector<std::string>> present;
  ingest::IngestOptions options;
  std::vector<ingest::MemoryDocument> documents;
};

/// What is said of a document beside its text; what is not given is read from the text.
Result<void> parse_attributes(const JsonReader& reader, ingest::MemoryDocument& document) {
  FOOTNOTE_TRY(const auto url, reader.optional_string("url", kPageUrlBytesMax));
  FOOTNOTE_TRY(const auto language, reader.optional_string("language", kAttributeBytesMax));
  FOOTNOTE_TRY(const auto tags, reader.optional_strings("tags", kAttributeEntriesMax, kAttributeBytesMax));
  FOOTNOTE_TRY(const auto labels, reader.optional_strings("acl_labels", kAttributeEntriesMax, kAttributeBytesMax));
  FOOTNOTE_TRY(const auto tier, reader.optional_string("evidence_tier", kAttributeBytesMax));
  FOOTNOTE_TRY(const auto status, reader.optional_string("status", kAttributeBytesMax));
  FOOTNOTE_TRY(const auto updated_at, reader.optional_string("updated_at", kAttributeBytesMax));
  if (url && !canonical_url(*url)) return fail_field(ErrorCode::kInvalidArgument, "url", "'url' is no address of a page: https://...");
  document.url = url.value_or("");
  document.language = language.value_or("");
  if (tags) document.tags = *tags;
  if (labels) document.acl_labels = *labels;
  if (tier) document.evidence = parse_evidence_tier(*tier);
  if (tier && !document.evidence) return fail_field(ErrorCode::kInvalidArgument, "evidence_tier", "'{}' is no evidence tier", *tier);
  if (status) document.status = parse_document_status(*status);
  if (status && !document.status) return fail_field(ErrorCode::kInvalidArgument, "status", "'{}' is no status", *status);
  if (updated_at) {
    const auto time = parse_rfc3339(*updated_at);
    if (!time) return fail_field(ErrorCode::kInvalidArgument, "updated_at", "'updated_at' is a time like 2027-01-31T12:00:00Z");
    document.updated_at = *time;
  }
  return {};
}

Result<ingest::MemoryDocument> parse_document(const JsonReader& reader) {
  FOOTNOTE_CHECK(reader.only({"project_key", "source_path", "title", "mime_type", "content", "url", "language", "tags", "evidence_tier",
                              "status", "updated_at", "acl_labels"}));
  ingest::MemoryDocument document;
  FOOTNOTE_TRY(document.key, reader.required_string("source_path", kPathBytesMax));
  if (std::ranges::any_of(document.key, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
    return fail_field(ErrorCode::kInvalidArgument, "source_path", "'source_path' holds control characters");
  }
  FOOTNOTE_TRY(document.content, reader.required_string("content", kContentBytesMax));
  FOOTNOTE_TRY(const auto title, reader.optional_string("title", kPathBytesMax));
  FOOTNOTE_TRY(const auto media_type, reader.optional_string("mime_type", 200));
  document.title = title.value_or("");
  document.media_type = media_type.value_or("");
  FOOTNOTE_CHECK(parse_attributes(reader, document));
  return document;
}

Result<IngestBody> parse_body(const http::Request& request, ingest::Secrets secrets) {
  FOOTNOTE_TRY(const Json json, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(json));
  FOOTNOTE_CHECK(reader.only({"documents", "project_key", "folder", "present", "take_over", "profile", "allow_secrets"}));
  FOOTNOTE_TRY(const JsonArray* documents, reader.required_array("documents", kIngestDocumentsMax));
  IngestBody body;
  FOOTNOTE_TRY(body.folder, reader.optional_string("folder", kPathBytesMax));
  FOOTNOTE_TRY(body.present, reader.optional_strings("present", kPresentKeysMax, kPathBytesMax));
  if (body.present && !body.folder) {
    return fail_field(ErrorCode::kInvalidArgument, "present", "'present' needs the 'folder' whose files it lists");
  }
  // Two folders must not overwrite each other's README.md unasked; a text that somebody sends is meant.
  FOOTNOTE_TRY(const auto take_over, reader.optional_bool("take_over"));
  body.options.foreign_key = take_over.value_or(!body.folder) ? ingest::ForeignKey::kTakeOver : ingest::ForeignKey::kReport;
  FOOTNOTE_TRY(const auto profile, reader.optional_string("profile", kAttributeBytesMax));
  if (profile && *profile != "kb" && *profile != "proxy") {
    return fail_field(ErrorCode::kInvalidArgument, "profile", "'{}' is no profile; there are kb and proxy", *profile);
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

/// Keys of a source's live documents that are not in `present`.
Result<std::vector<std::string>> gone_keys(const Services& services, const CallContext& call, const Corpus& corpus, const Source& source,
                                           const std::vector<std::string>& present) {
  const std::set<std::string_view> kept(present.begin(), present.end());
  std::vector<std::string> gone;
  std::string after;
  for (;;) {
    FOOTNOTE_TRY(const auto page, services.chunks.documents(call, corpus.id, after, kDocumentsPage));
    for (const Document& document : page) {
      if (document.source == source.id && !kept.contains(document.key)) gone.push_back(document.key);
    }
    if (page.size() < kDocumentsPage) return gone;
    after = page.back().key;
  }
}

void count_ingest(Metrics& metrics, const CallContext& call, const ingest::IngestReport& report, std::size_t deleted, std::size_t failed) {
  const std::pair<std::string_view, std::size_t> documents[] = {
      {"added", report.added}, {"updated", report.updated}, {"unchanged", report.unchanged}, {"deleted", deleted}, {"failed", failed}};
  for (const auto& [result, count] : documents) {
    metrics
        .counter("footnote_ingest_documents_total", "Documents sent to be ingested, by what came of them",
                 {{"result", std::string(result)}})
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
       {"deleted", deleted},
       {"failed", failed},
       {"secret_passages", report.secret_passages},
       {"chunks_embedded", report.embedded_chunks},
       {"generation", report.generation}});
}

}  // namespace

Result<http::Response> ingest_documents(const Services& services, const access::Caller& caller, const http::Request& request,
                                        const CallContext& call) {
  FOOTNOTE_TRY(const IngestBody body, parse_body(request, services.secrets));
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.ensure_corpus(call, caller.workspace, body.corpus_name, services.embedder.space()));
  const SourceKind kind = body.folder ? SourceKind::kFolder : SourceKind::kUpload;
  FOOTNOTE_TRY(const Source source, services.catalog.ensure_source(call, corpus.id, kind, body.folder.value_or("")));
  std::set<std::string> unchanged;
  std::set<std::string> changed;
  const auto progress = [&](const ingest::IngestProgress& step) {
    (step.change == ingest::DocumentChange::kUnchanged ? unchanged : changed).insert(step.key);
  };
  FOOTNOTE_TRY(const auto report, services.ingestor.ingest_documents(call, corpus, source.id, body.documents, body.options, progress));
  std::vector<std::string> deleted;
  if (body.present) {
    FOOTNOTE_TRY(deleted, gone_keys(services, call, corpus, source, *body.present));
    FOOTNOTE_CHECK(services.ingestor.delete_documents(call, corpus, deleted));
  }
  std::map<std::string, std::string> failed;
  std::map<std::string, std::string> kept_out;
  for (const ingest::Problem& problem : report.problems) {
    if (problem.kind == ingest::ProblemKind::kProblem) failed[problem.path] = problem.reason;
    if (problem.kind == ingest::ProblemKind::kSecret) kept_out[problem.path] = problem.reason;
  }
  count_ingest(services.metrics, call, report, deleted.size(), failed.size());
  JsonArray documents;
  std::size_t indexed = 0;
  for (const ingest::MemoryDocument& document : body.documents) {
    JsonObject entry{{"source_path", document.key}};
    if (const auto problem = failed.find(document.key); problem != failed.end()) {
      entry["status"] = "failed";
      entry["error"] = problem->second;
    } else if (unchanged.contains(document.key)) {
      entry["status"] = "unchanged";
    } else {
      entry["status"] = changed.contains(document.key) ? "indexed" : "kept_out";
      indexed += changed.contains(document.key) ? 1 : 0;
    }
    if (const auto secret = kept_out.find(document.key); secret != kept_out.end()) entry["kept_out"] = secret->second;
    documents.push_back(std::move(entry));
  }
  return http::Response::json(failed.empty() ? 200 : 207, JsonObject{{"indexed", indexed},
                                                                     {"unchanged", unchanged.size()},
                                                                     {"failed", failed.size()},
                                                                     {"secret_passages", report.secret_passages},
                                                                     {"deleted", JsonArray(deleted.begin(), deleted.end())},
                                                                     {"generation", report.generation},
                                                                     {"documents", std::move(documents)}});
}

}  // namespace footnote::api
