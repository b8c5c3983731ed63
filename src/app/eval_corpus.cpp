#include "app/eval_corpus.h"

#include <cstdlib>
#include <set>
#include <unordered_set>

#include "base/sha256.h"
#include "base/text.h"
#include "chunk/parse.h"
#include "ingest/folder_reader.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEmbedBatch = 64;
constexpr std::size_t kPageRows = 1000;
constexpr std::string_view kCorpusName = "eval";
/// Bump when documents are chunked differently.
constexpr std::string_view kCacheVersion = "2";

Result<fs::path> cache_root(const cli::EvalCommand& command) {
  if (!command.cache.empty()) return command.cache;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return fs::path(folder) / "footnote" / "eval";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "footnote" / "eval";
  return fail(ErrorCode::kFailedPrecondition, "HOME is not set; name a folder with --cache");
}

Result<std::unordered_set<std::string>> document_keys(const CallContext& call, IngestParts& parts, CorpusId corpus) {
  std::unordered_set<std::string> out;
  std::string after;
  while (true) {
    FOOTNOTE_TRY(const auto page, parts.chunks().documents(call, corpus, after, kPageRows));
    for (const Document& document : page) out.insert(document.key);
    if (page.size() < kPageRows) return out;
    after = page.back().key;
  }
}

/// Opens the cached store for this content hash and the configured model.
Result<std::unique_ptr<AnswerParts>> open_cached(const eval::EvalJob& job, std::string_view content) {
  const cli::CommandContext& context = job.context;
  FOOTNOTE_TRY(const fs::path root, cache_root(job.command));
  auto metrics = std::make_unique<Metrics>();
  FOOTNOTE_TRY(auto embedder, open_embedder(context.call, context.settings, *metrics));
  const EmbeddingSpace space = embedder.port->space();
  const std::string name = sha256_hex(fmt::format("{}\n{}\n{}\n{}", content, space.model_id, space.dimension, kCacheVersion)).substr(0, 24);
  FOOTNOTE_TRY(DataFolder folder, DataFolder::open(root / name));
  return AnswerParts::open(context.call, context.settings, std::move(folder),
                           {.ingest = {.metrics = std::move(metrics), .embedder = std::move(embedder)}});
}

/// Hash of the names and bytes of all files that an ingest would read, and of how they are read.
Result<std::string> pages_hash(const CallContext& call, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return fail(ErrorCode::kNotFound, "{}: no such folder; --documents names the folder of the set's documents, see docs/evaluation.md",
                folder.string());
  }
  FOOTNOTE_TRY(const ingest::WalkResult found, ingest::walk(call, folder));
  if (found.files.empty()) return fail(ErrorCode::kNotFound, "{}: no documents in it", folder.string());
  Sha256 hash;
  for (const ingest::FoundFile& file : found.files) {
    FOOTNOTE_TRY(const std::string bytes, ingest::read_found(found, file));
    hash.update(fmt::format("{}\n{}\n", file.key, bytes.size())).update(bytes);
  }
  return fmt::format("pages {} {}", chunk::kParseVersion, hash.hex());
}

/// Fills a corpus in its own store: one chunk per document.
class CorpusFiller {
 public:
  CorpusFiller(const eval::EvalJob& job, IngestParts& parts, const eval::BeirSet& set)
      : job_(job), context_(job.context), parts_(parts), set_(set) {}

  /// Embeds missing documents, committing in steps, so that an interrupted run resumes where it stopped.
  Result<Corpus> fill() {
    FOOTNOTE_TRY(const Corpus corpus,
                 parts_.catalog().ensure_corpus(context_.call, parts_.workspace(), kCorpusName, parts_.embedder().space()));
    FOOTNOTE_TRY(const Source source, parts_.catalog().ensure_source(context_.call, corpus.id, SourceKind::kText, ""));
    FOOTNOTE_TRY(const auto present, document_keys(context_.call, parts_, corpus.id));
    std::vector<const eval::BeirDocument*> missing;
    for (const eval::BeirDocument& document : set_.documents) {
      if (!present.contains(document.id) && !trim(document.passage()).empty()) missing.push_back(&document);
    }
    cli::ProgressBar bar = job_.bar("documents");
    for (std::size_t i = 0; i < missing.size(); i += kEmbedBatch) {
      bar.update(i, missing.size());
      const std::span<const eval::BeirDocument* const> batch(missing.data() + i, std::min(kEmbedBatch, missing.size() - i));
      FOOTNOTE_CHECK(commit(corpus.id, source.id, batch));
    }
    embedded_ = missing.size();
    return corpus;
  }
  std::size_t embedded() const { return embedded_; }

 private:
  Result<void> commit(CorpusId corpus, SourceId source, std::span<const eval::BeirDocument* const> batch) {
    std::vector<std::string> passages;
    for (const eval::BeirDocument* document : batch) passages.push_back(document->passage());
    const std::vector<std::string_view> views(passages.begin(), passages.end());
    FOOTNOTE_TRY(const auto embeddings, parts_.embedder().embed(context_.call, views, {.codes = true}));
    std::vector<DocumentDraft> drafts;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      DocumentDraft draft;
      draft.key = batch[i]->id;
      draft.source = source;
      draft.content_hash = sha256_hex(passages[i]);
      draft.attributes.media_type = "text/plain";  // no title: it is part of the passage and would count twice
      draft.text = passages[i];
      ChunkDraft chunk;
      chunk.text = passages[i];
      chunk.source_type = "doc";
      chunk.content_hash = draft.content_hash;
      chunk.range = {0, passages[i].size()};
      for (const WindowVector& window : embeddings[i].windows) chunk.vectors.push_back(window.values);
      chunk.codes = embeddings[i].passage_codes;
      draft.chunks.push_back(std::move(chunk));
      drafts.push_back(std::move(draft));
    }
    FOOTNOTE_CHECK(parts_.chunks().commit(context_.call, corpus, drafts, {}));
    return {};
  }

  const eval::EvalJob& job_;
  const cli::CommandContext& context_;
  IngestParts& parts_;
  const eval::BeirSet& set_;
  std::size_t embedded_ = 0;
};

}  // namespace

Result<EvalCorpus> open_eval_corpus(const eval::EvalJob& job, const eval::BeirSet& set) {
  const cli::CommandContext& context = job.context;
  EvalCorpus out;
  FOOTNOTE_TRY(out.parts, open_cached(job, set.corpus_hash));
  const auto start = std::chrono::steady_clock::now();
  CorpusFiller filler(job, out.parts->base(), set);
  FOOTNOTE_TRY(out.corpus, filler.fill());
  out.embedded = filler.embedded();
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  FOOTNOTE_CHECK(out.parts->base().build_indexes(context.call, context.terminal));
  return out;
}

Result<PageCorpus> open_page_corpus(const eval::EvalJob& job, const eval::DocumentationSet& set) {
  const cli::CommandContext& context = job.context;
  FOOTNOTE_TRY(const std::string hash, pages_hash(context.call, set.documents));
  PageCorpus out;
  FOOTNOTE_TRY(out.opened.parts, open_cached(job, hash));
  IngestParts& parts = out.opened.parts->base();
  const auto start = std::chrono::steady_clock::now();
  FOOTNOTE_TRY(out.opened.corpus, parts.catalog().ensure_corpus(context.call, parts.workspace(), kCorpusName, parts.embedder().space()));
  // The same documents may be in another folder tomorrow, so the source is identified by the set, not by its path.
  FOOTNOTE_TRY(const Source source, parts.catalog().ensure_source(context.call, out.opened.corpus.id, SourceKind::kFolder, kCorpusName));
  FOOTNOTE_CHECK(parts.build_indexes(context.call, context.terminal));
  cli::ProgressBar bar = job.bar(set.name + " documents");
  FOOTNOTE_TRY(ingest::FolderReader reader, ingest::FolderReader::open(context.call, set.documents, {}, parts.clock()));
  const ingest::IngestOptions options{.origin = ingest::Origin::kFile};
  std::size_t read = 0;
  for (;;) {
    FOOTNOTE_TRY(const auto batch, reader.next(context.call));
    if (batch.empty()) break;
    FOOTNOTE_TRY(const auto report, parts.ingestor().ingest_documents(context.call, out.opened.corpus, source.id, batch, options));
    out.opened.embedded += report.added + report.updated;
    bar.update(read += batch.size(), reader.files());
  }
  bar.clear();
  out.opened.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  parts.save_indexes(context.call, upkeep::IndexFiles::When::kAnythingChanged);
  FOOTNOTE_TRY(const auto keys, document_keys(context.call, parts, out.opened.corpus.id));
  out.documents = keys.size();
  std::set<std::string> missing;
  for (const eval::DocumentationQuestion& question : set.questions) {
    for (const std::string& page : question.pages) {
      if (!keys.contains(page)) missing.insert(page);
    }
  }
  out.missing.assign(missing.begin(), missing.end());
  return out;
}

}  // namespace footnote::app
