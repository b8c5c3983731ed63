#include <unordered_set>

#include "app/beir.h"
#include "app/commands.h"
#include "app/compose.h"
#include "app/eval_metrics.h"
#include "app/progress.h"
#include "app/text_table.h"
#include "base/sha256.h"
#include "base/text.h"
#include "providers/local/local_embedder.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::size_t kEmbedBatch = 64;
constexpr std::size_t kPageRows = 1000;
constexpr std::size_t kRankingDepth = 100;
constexpr std::string_view kCorpusName = "eval";
/// Counts up when the way changes in which documents become chunks.
constexpr std::string_view kCacheVersion = "2";

struct StageFigures {
  std::string stage;
  EvalScores scores;
  double milliseconds_per_question = 0;
};

Result<fs::path> cache_root(const EvalCommand& command) {
  if (!command.cache.empty()) return command.cache;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder != '\0')
    return fs::path(folder) / "footnote" / "eval";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "footnote" / "eval";
  return fail(ErrorCode::kFailedPrecondition, "HOME is not set; name a folder with --cache");
}

ProgressBar make_bar(const CommandContext& context, std::string unit) {
  return ProgressBar(std::move(unit), context.terminal.width,
                     context.terminal.progress ? ProgressBar::Write([](std::string_view text) { write_err(text); }) : ProgressBar::Write());
}

/// The folder's corpus in a store of its own, each document one chunk.
class EvalCorpus {
 public:
  EvalCorpus(const CommandContext& context, Composition& parts, const BeirSet& set) : context_(context), parts_(parts), set_(set) {}

  /// Embeds what is not there yet; commits as it goes, so that an interrupted run goes on where it was.
  Result<Corpus> fill() {
    FOOTNOTE_TRY(const Corpus corpus,
                 parts_.catalog().ensure_corpus(context_.call, parts_.workspace(), kCorpusName, parts_.embedder().space()));
    FOOTNOTE_TRY(const Source source, parts_.catalog().ensure_source(context_.call, corpus.id, SourceKind::kText, ""));
    FOOTNOTE_TRY(const auto present, keys(corpus.id));
    std::vector<const BeirDocument*> missing;
    for (const BeirDocument& document : set_.documents) {
      if (!present.contains(document.id) && !trim(document.passage()).empty()) missing.push_back(&document);
    }
    ProgressBar bar = make_bar(context_, "documents");
    for (std::size_t i = 0; i < missing.size(); i += kEmbedBatch) {
      bar.update(i, missing.size());
      const std::span<const BeirDocument* const> batch(missing.data() + i, std::min(kEmbedBatch, missing.size() - i));
      FOOTNOTE_CHECK(commit(corpus.id, source.id, batch));
    }
    embedded_ = missing.size();
    return corpus;
  }
  std::size_t embedded() const { return embedded_; }

 private:
  Result<std::unordered_set<std::string>> keys(CorpusId corpus) const {
    std::unordered_set<std::string> out;
    std::string after;
    while (true) {
      FOOTNOTE_TRY(const auto page, parts_.chunks().documents(context_.call, corpus, after, kPageRows));
      for (const Document& document : page) out.insert(document.key);
      if (page.size() < kPageRows) return out;
      after = page.back().key;
    }
  }

  Result<void> commit(CorpusId corpus, SourceId source, std::span<const BeirDocument* const> batch) {
    std::vector<std::string> passages;
    for (const BeirDocument* document : batch) passages.push_back(document->passage());
    const std::vector<std::string_view> views(passages.begin(), passages.end());
    FOOTNOTE_TRY(const auto embeddings, parts_.embedder().embed(context_.call, views, {.codes = true}));
    std::vector<DocumentDraft> drafts;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      DocumentDraft draft;
      draft.key = batch[i]->id;
      draft.source = source;
      draft.content_hash = sha256_hex(passages[i]);
      draft.attributes.media_type = "text/plain";  // no title: it is in the passage, and would count twice
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

  const CommandContext& context_;
  Composition& parts_;
  const BeirSet& set_;
  std::size_t embedded_ = 0;
};

retrieve::Recall recall_of(std::string_view stage) {
  if (stage == "keyword") return retrieve::Recall::kKeywordOnly;
  if (stage == "vector") return retrieve::Recall::kVectorOnly;
  if (stage == "late") return retrieve::Recall::kLateOnly;
  return retrieve::Recall::kBoth;
}

Result<StageFigures> measure(const CommandContext& context, const Composition& parts, CorpusId corpus, const std::string& stage,
                             std::span<const BeirQuestion> questions) {
  retrieve::RetrieveOptions options{.profile = kAskProfile, .filter = {}, .recall = recall_of(stage)};
  options.profile.top_k = kRankingDepth;
  options.profile.per_document_max = 1;
  if (stage != "judged") options.profile.judged = 0;
  EvalScorer scorer;
  ProgressBar bar = make_bar(context, "questions");
  const auto start = steady_clock::now();
  for (std::size_t i = 0; i < questions.size(); ++i) {
    bar.update(i, questions.size());
    FOOTNOTE_TRY(const auto found, parts.retriever().retrieve(context.call, corpus, questions[i].text, options));
    std::vector<std::string> ranking;
    for (const Hit& hit : found.hits) ranking.push_back(hit.document_key);
    scorer.add(ranking, questions[i].grades);
  }
  const std::chrono::duration<double, std::milli> took = steady_clock::now() - start;
  return StageFigures{stage, scorer.means(), questions.empty() ? 0 : took.count() / static_cast<double>(questions.size())};
}

std::string render_figures(std::span<const StageFigures> figures) {
  TextTable table({{"stage", Align::kLeft},
                   {"nDCG@10", Align::kRight},
                   {"MRR@10", Align::kRight},
                   {"recall@10", Align::kRight},
                   {"recall@100", Align::kRight},
                   {"ms/question", Align::kRight}});
  for (const auto& [stage, scores, milliseconds] : figures) {
    table.add({stage, fmt::format("{:.4f}", scores.ndcg_10), fmt::format("{:.4f}", scores.mrr_10), fmt::format("{:.4f}", scores.recall_10),
               fmt::format("{:.4f}", scores.recall_100), fmt::format("{:.2f}", milliseconds)});
  }
  return table.render();
}

JsonArray figures_json(std::span<const StageFigures> figures) {
  JsonArray out;
  for (const auto& [stage, scores, milliseconds] : figures) {
    out.push_back(JsonObject{{"stage", stage},
                             {"questions", scores.questions},
                             {"ndcg_10", scores.ndcg_10},
                             {"mrr_10", scores.mrr_10},
                             {"recall_10", scores.recall_10},
                             {"recall_100", scores.recall_100},
                             {"ms_per_question", milliseconds}});
  }
  return out;
}

}  // namespace

Result<int> run_eval(const CommandContext& context, const EvalCommand& command) {
  FOOTNOTE_TRY(const BeirSet set, read_beir(command.folder));
  FOOTNOTE_TRY(const fs::path root, cache_root(command));
  auto metrics = std::make_unique<Metrics>();
  FOOTNOTE_TRY(auto embedder, open_embedder(context.call, context.settings, *metrics));
  const EmbeddingSpace space = embedder.port->space();
  const std::string name =
      sha256_hex(fmt::format("{}\n{}\n{}\n{}", set.corpus_hash, space.model_id, space.dimension, kCacheVersion)).substr(0, 24);
  FOOTNOTE_TRY(DataFolder folder, DataFolder::open(root / name));
  FOOTNOTE_TRY(const auto parts, Composition::open(context.call, context.settings, std::move(folder),
                                                   {.metrics = std::move(metrics), .embedder = std::move(embedder)}));

  const auto start = steady_clock::now();
  EvalCorpus eval_corpus(context, *parts, set);
  FOOTNOTE_TRY(const Corpus corpus, eval_corpus.fill());
  const std::chrono::duration<double> embed_time = steady_clock::now() - start;
  FOOTNOTE_CHECK(build_indexes(context.call, *parts, context.terminal));

  std::span<const BeirQuestion> questions = set.questions;
  if (command.limit > 0) questions = questions.first(std::min(command.limit, questions.size()));
  const std::vector<std::string> stages =
      command.stages.empty() ? std::vector<std::string>{"keyword", "vector", "late", "fused"} : command.stages;
  std::vector<StageFigures> figures;
  for (const std::string& stage : stages) {
    FOOTNOTE_TRY(auto measured, measure(context, *parts, corpus.id, stage, questions));
    figures.push_back(std::move(measured));
  }
  if (context.form == OutputForm::kJson) {
    write_out(to_text(JsonObject{{"set", command.folder.string()},
                                 {"documents", set.documents.size()},
                                 {"questions", questions.size()},
                                 {"model", space.model_id},
                                 {"documents_embedded", eval_corpus.embedded()},
                                 {"embed_seconds", embed_time.count()},
                                 {"stages", figures_json(figures)}}) +
              "\n");
    return kExitOk;
  }
  write_out(fmt::format("{} documents, {} questions; {} documents embedded in {:.1f} s\n\n{}", set.documents.size(), questions.size(),
                        eval_corpus.embedded(), embed_time.count(), render_figures(figures)));
  return kExitOk;
}

}  // namespace footnote::app
