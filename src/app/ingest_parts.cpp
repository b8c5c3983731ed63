#include "app/ingest_parts.h"

#include <algorithm>
#include <thread>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "base/log.h"
#include "cli/command_line.h"
#include "cli/progress.h"
#include "upkeep/index_rebuilder.h"

namespace footnote::app {
namespace {

/// Checks that vectors have the same length as the stored ones of the same name; otherwise the first question would fail.
Result<void> check_stored_spaces(const CallContext& call, const CatalogStore& catalog, const EmbeddingSpace& space) {
  FOOTNOTE_TRY(const auto corpora, upkeep::all_corpora(call, catalog));
  for (const Corpus& corpus : corpora) {
    if (corpus.space.model_id != space.model_id || corpus.space.dimension == space.dimension) continue;
    return fail(ErrorCode::kFailedPrecondition,
                "the embedder {} gives vectors of {} numbers, corpus '{}' holds vectors of {} numbers by that name: set "
                "EMBEDDER_DIMENSION={}, or give the model another name (EMBEDDER_MODEL) and ingest again",
                space.model_id, space.dimension, corpus.name, corpus.space.dimension, corpus.space.dimension);
  }
  return {};
}

/// One less than the engine's threads: the calling thread works too.
std::size_t helper_thread_count(const Settings& settings) {
  const auto engine = static_cast<std::size_t>(settings.integer(Setting::kEngineThreads));
  const std::size_t all = engine != 0 ? engine : std::thread::hardware_concurrency();
  return std::clamp<std::size_t>(all, 1, HelperThreads::kThreadsMax + 1) - 1;
}

/// Null if none are configured.
Result<std::shared_ptr<const Synonyms>> open_synonyms(const Settings& settings) {
  const auto path = settings.path(Setting::kKeywordSynonyms);
  if (path.empty()) return nullptr;
  auto text = read_file(path, Synonyms::kFileBytesMax);
  if (!text) return with_context(std::move(text).error(), fmt::format("keyword.synonyms: {}", path.string()));
  auto parsed = Synonyms::parse(*text);
  if (!parsed) return with_context(std::move(parsed).error(), fmt::format("keyword.synonyms: {}", path.string()));
  return std::make_shared<const Synonyms>(*std::move(parsed));
}

/// Shows one corpus's index growing while another thread fills it.
class BuildWatch {
 public:
  BuildWatch(const VectorStore& vectors, const Corpus& corpus, const cli::Terminal& terminal) {
    if (!terminal.progress) return;
    thread_ = std::jthread([&vectors, corpus, width = terminal.width](const std::stop_token& stop) {
      constexpr std::chrono::milliseconds kStep{100};
      constexpr int kStepsBeforeShown = 10;  // most indexes are ready sooner
      cli::ProgressBar bar("commits indexed", width, [](std::string_view text) { cli::write_err(text); });
      for (int step = 0; !stop.stop_requested(); ++step) {
        std::this_thread::sleep_for(kStep);
        if (step < kStepsBeforeShown) continue;
        const auto reached = vectors.generation({}, corpus.id);
        if (reached) bar.update(static_cast<std::uint64_t>(*reached), static_cast<std::uint64_t>(corpus.generation));
      }
    });
  }

 private:
  std::jthread thread_;
};

/// Returns memory to the system: loading indexes leaves free memory in the arenas of threads that have ended.
void give_back_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace

Result<std::unique_ptr<IngestParts>> IngestParts::open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                       IngestOptions options) {
  Opened opened{.metrics = std::move(options.metrics), .stores = {}, .embedder = std::move(options.embedder), .synonyms = {}, .level = {}};
  if (!opened.metrics) opened.metrics = std::make_unique<Metrics>();
  if (!opened.embedder.port) {
    FOOTNOTE_TRY(opened.embedder, open_embedder(call, settings, *opened.metrics));
  }
  FOOTNOTE_TRY(opened.synonyms, open_synonyms(settings));
  FOOTNOTE_TRY(opened.level, cpu_level_of(settings));
  FOOTNOTE_TRY(opened.stores,
               upkeep::Stores::open(call, std::move(folder), settings.text(Setting::kWorkspace),
                                    {.turn_traces_max = static_cast<std::size_t>(settings.integer(Setting::kAnswerTraces))}));
  FOOTNOTE_CHECK(check_stored_spaces(call, opened.stores->catalog(), opened.embedder.port->space()));
  return std::unique_ptr<IngestParts>(new IngestParts(std::move(opened), settings, options.indexes));
}

IngestParts::IngestParts(Opened opened, const Settings& settings, Indexes indexes)
    : metrics_(std::move(opened.metrics)),
      stores_(std::move(opened.stores)),
      embedder_(std::move(opened.embedder)),
      level_(opened.level),
      helpers_(helper_thread_count(settings)),
      vectors_(level_,
               {.unsaved_bytes_max = static_cast<std::uint64_t>(settings.integer(Setting::kIndexMemoryBudget)) << 20,
                .save = [this](const CallContext& call, CorpusId corpus) { save_index(call, corpus); }},
               &helpers_),
      graphs_(vectors_),
      keywords_(
          {.k1 = static_cast<float>(settings.number(Setting::kKeywordK1)), .b = static_cast<float>(settings.number(Setting::kKeywordB))},
          {.words = std::move(opened.synonyms), .corpus_name = [this](CorpusId corpus) { return corpus_name(corpus); }}),
      codes_(stores_->chunks(), upkeep::code_file_bytes(settings)),
      index_files_(stores_->folder().path(), stores_->chunks(), saved_indexes(settings)),
      sync_(stores_->chunks(), {&vectors_, &keywords_}, stores_->clock()),
      reconciler_(stores_->chunks(), {&vectors_, &keywords_}, sync_, index_files_, *metrics_),
      ingestor_(stores_->chunks(), embedder(), indexes == Indexes::kOn ? &sync_ : nullptr) {
  metrics_
      ->gauge("footnote_build_info", "Always 1; its labels say what runs",
              {{"version", std::string(cli::version())}, {"embedder", embedder().space().model_id}})
      .set(1);
}

std::vector<SavedIndex*> IngestParts::saved_indexes(const Settings& settings) {
  std::vector<SavedIndex*> out{&vectors_, &keywords_, &graphs_};
  if (upkeep::code_file_bytes(settings) > 0) out.push_back(&codes_);
  return out;
}

/// Empty if unknown: then only global synonyms apply.
std::string IngestParts::corpus_name(CorpusId corpus) const {
  const auto found = stores_->catalog().corpus({}, corpus);
  return found ? found->name : std::string();
}

void IngestParts::save_index(const CallContext& call, CorpusId corpus) {
  const auto corpora = upkeep::all_corpora(call, catalog());
  if (!corpora) return log(LogLevel::kWarn, "app", "could not save an index", {{"error", corpora.error().message}});
  const auto found = std::ranges::find(*corpora, corpus, &Corpus::id);
  if (found != corpora->end()) index_files_.save(call, *found, upkeep::IndexFiles::When::kAnythingChanged);
}

void IngestParts::forget_corpus(const CallContext& call, CorpusId corpus) {
  // What remains only occupies memory and a file, so a failure is not reported to the client.
  (void)vectors_.drop(call, corpus);
  (void)keywords_.drop(call, corpus);
  (void)codes_.drop(call, corpus);
  index_files_.remove(corpus);
}

Result<void> IngestParts::build_indexes(const CallContext& call, const cli::Terminal& terminal) {
  FOOTNOTE_TRY(auto corpora, upkeep::all_corpora(call, catalog()));
  FOOTNOTE_CHECK(upkeep::finish_rebuilds(call, *stores_, embedder(), corpora));
  FOOTNOTE_TRY(corpora, upkeep::all_corpora(call, catalog()));
  index_files_.tidy(corpora);
  for (const Corpus& corpus : corpora) {
    const BuildWatch watch(vectors_, corpus, terminal);
    index_files_.load(call, corpus);
    FOOTNOTE_CHECK(sync_.sync(call, corpus.id));
    FOOTNOTE_CHECK(reconciler_.reconcile(call, corpus));
    index_files_.save(call, corpus, upkeep::IndexFiles::When::kEnoughChanged);
  }
  give_back_memory();
  return {};
}

void IngestParts::save_indexes(const CallContext& call, upkeep::IndexFiles::When when) {
  const auto corpora = upkeep::all_corpora(call, catalog());
  if (!corpora) return log(LogLevel::kWarn, "app", "could not save the indexes", {{"error", corpora.error().message}});
  for (const Corpus& corpus : *corpora) index_files_.save(call, corpus, when);
}

}  // namespace footnote::app
