#include "upkeep/index_rebuilder.h"

#include "base/contained.h"
#include "base/log.h"
#include "upkeep/reembed.h"

namespace footnote::upkeep {
namespace {

using api::RebuildState;

/// Fresh indexes of one corpus, built from the store.
struct FreshIndexes {
  FreshIndexes(Stores& stores, const CallContext& call, CorpusId corpus)
      : sync(stores.chunks(), {&vectors, &keywords}, stores.clock()),
        files(stores.folder().path(), stores.chunks(), {&vectors, &keywords}),
        made(sync.sync(call, corpus)) {}

  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  ingest::IndexSync sync;
  IndexFiles files;
  Result<Generation> made;
};

}  // namespace

IndexRebuilder::~IndexRebuilder() {
  std::jthread last;
  {
    const MutexLock lock(mutex_);
    last = std::move(thread_);
  }
  last.request_stop();
}

Result<RebuildState> IndexRebuilder::start(const CallContext& call, WorkspaceId workspace, std::string_view corpus_name,
                                           const std::optional<std::string>& model) {
  FOOTNOTE_TRY(const Corpus corpus, ports_.stores.catalog().find_corpus(call, workspace, corpus_name));
  const bool is_own = model && ports_.embedder != nullptr && (model->empty() || *model == ports_.embedder->space().model_id);
  std::shared_ptr<Embedder> other;
  if (model && !is_own && may_be_embedded(corpus) && (ports_.embedder == nullptr || *model != corpus.space.model_id)) {
    FOOTNOTE_TRY(other, open_(call, corpus, *model));
  }
  Embedder* const target = other ? other.get() : is_own ? ports_.embedder : nullptr;
  const MutexLock lock(mutex_);
  if (job_ && job_->state.phase == RebuildState::Phase::kRunning) {
    return fail(ErrorCode::kAlreadyExists, "another rebuild is running; wait for its end, or cancel it");
  }
  if (thread_.joinable()) thread_.join();
  job_ = Job{.workspace = workspace,
             .corpus = corpus.id,
             .state = {.corpus = corpus.name, .model = target != nullptr ? target->space().model_id : corpus.space.model_id}};
  thread_ = std::jthread([this, corpus, target, kept = std::move(other)](const std::stop_token& stop) { run(stop, corpus, target); });
  return job_->state;
}

std::optional<RebuildState> IndexRebuilder::state(WorkspaceId workspace) const {
  const MutexLock lock(mutex_);
  if (!job_ || job_->workspace != workspace) return std::nullopt;
  return job_->state;
}

Result<RebuildState> IndexRebuilder::cancel(const CallContext& call, WorkspaceId workspace) {
  std::jthread last;
  CorpusId corpus;
  {
    const MutexLock lock(mutex_);
    if (!job_ || job_->workspace != workspace) return fail(ErrorCode::kNotFound, "there is no rebuild to cancel");
    corpus = job_->corpus;
    if (job_->state.phase == RebuildState::Phase::kDone) return job_->state;
    last = std::move(thread_);
  }
  last.request_stop();
  if (last.joinable()) last.join();
  FOOTNOTE_CHECK(SqliteReembedding(ports_.stores.store()).discard(call, corpus));
  const MutexLock lock(mutex_);
  if (job_->state.phase != RebuildState::Phase::kDone) job_->state.phase = RebuildState::Phase::kCancelled;
  return job_->state;
}

void IndexRebuilder::run(const std::stop_token& stop, const Corpus& corpus, Embedder* target) {
  CallContext call;
  call.stop = stop;
  log(LogLevel::kInfo, "app", "index rebuild started", {{"corpus", corpus.name}});
  Result<RebuildState::Phase> outcome = fail(ErrorCode::kUnavailable, "out of memory; start the rebuild again");
  contained("app", "rebuilding an index", [&] { outcome = work(call, corpus, target); });
  finish(outcome);
}

Result<RebuildState::Phase> IndexRebuilder::work(const CallContext& call, const Corpus& corpus, Embedder* target) {
  SqliteReembedding reembedding(ports_.stores.store());
  const auto tell = [this](const SqliteReembedding::Progress& progress) { note(progress); };
  // A space that differs only in its distance has the same vectors.
  const auto has_vectors_of = [&](const EmbeddingSpace& space) {
    return space.model_id == corpus.space.model_id && space.dimension == corpus.space.dimension;
  };
  if (target == nullptr || has_vectors_of(target->space()) || !may_be_embedded(corpus)) {
    const auto forget_copies = [&] {
      (void)ports_.codes.drop({}, corpus.id);
      ports_.files.remove(corpus.id, IndexKind::kCodes);
    };
    if (target != nullptr && target->space() == corpus.space) {
      FOOTNOTE_TRY(const std::int64_t recoded, renew_codes(call, reembedding, *target, corpus.id, forget_copies, tell));
      update([&](RebuildState& state) { state.recoded = recoded; });
    }
    FOOTNOTE_CHECK(refresh(call, corpus));
    return RebuildState::Phase::kDone;
  }
  FOOTNOTE_CHECK(embed_missing(call, reembedding, *target, corpus.id, tell));
  update([](RebuildState& state) { state.embedded = state.total; });
  if (ports_.embedder != nullptr && target->space() != ports_.embedder->space()) return RebuildState::Phase::kReady;
  FOOTNOTE_CHECK(change_over(call, corpus, target->space()));
  FOOTNOTE_CHECK(refresh(call, corpus));
  return RebuildState::Phase::kDone;
}

/// The old indexes serve queries until the fresh ones are complete and up to date.
Result<void> IndexRebuilder::refresh(const CallContext& call, const Corpus& corpus) {
  FreshIndexes fresh(ports_.stores, call, corpus.id);
  FOOTNOTE_CHECK(fresh.made);
  const auto exchanged = ports_.sync.exchange(call, corpus.id, [&]() -> Result<void> {
    FOOTNOTE_CHECK(fresh.sync.sync(call, corpus.id));
    FOOTNOTE_TRY(const Corpus current, ports_.stores.catalog().corpus(call, corpus.id));
    if (current.generation == 0) return {};  // the corpus was always empty and has no files
    FOOTNOTE_CHECK(ports_.codes.drop(call, corpus.id));
    ports_.files.remove(corpus.id);
    fresh.files.save(call, current, IndexFiles::When::kAnythingChanged);
    FOOTNOTE_CHECK(ports_.files.load_one(call, current, ports_.vectors));
    FOOTNOTE_CHECK(ports_.files.load_one(call, current, ports_.keywords));
    return {};
  });
  FOOTNOTE_CHECK(exchanged);
  FOOTNOTE_TRY(const Corpus current, ports_.stores.catalog().corpus(call, corpus.id));
  ports_.files.save(call, current, IndexFiles::When::kInBackground);
  const IndexExtent extent = ports_.vectors.extent(corpus.id);
  std::uint64_t bytes = 0;
  for (const IndexKind kind : {IndexKind::kVectors, IndexKind::kKeywords, IndexKind::kCodes}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(ports_.files.path_of(corpus.id, kind), error);
    if (!error) bytes += size;
  }
  update([&](RebuildState& state) {
    state.rows = static_cast<std::int64_t>(extent.rows);
    state.generation = extent.generation;
    state.bytes = bytes;
  });
  return {};
}

/// Called only if nobody can query the corpus.
Result<void> IndexRebuilder::change_over(const CallContext& call, const Corpus& corpus, const EmbeddingSpace& space) {
  const auto exchanged = ports_.sync.exchange(call, corpus.id, [&]() -> Result<void> {
    FOOTNOTE_CHECK(ports_.vectors.drop(call, corpus.id));
    FOOTNOTE_CHECK(ports_.keywords.drop(call, corpus.id));
    ports_.files.remove(corpus.id);
    SqliteReembedding reembedding(ports_.stores.store());
    FOOTNOTE_TRY(const bool switched, reembedding.switch_over(call, corpus.id, space));
    // After the codes are swapped: a file being written meanwhile would hold the old codes.
    FOOTNOTE_CHECK(ports_.codes.drop({}, corpus.id));
    if (!switched) return fail(ErrorCode::kUnavailable, "documents came in meanwhile; start the rebuild again to embed them too");
    return {};
  });
  return exchanged ? Result<void>{} : std::unexpected(exchanged.error());
}

void IndexRebuilder::update(const std::function<void(RebuildState&)>& change) {
  const MutexLock lock(mutex_);
  change(job_->state);
}

void IndexRebuilder::note(const SqliteReembedding::Progress& progress) {
  update([&](RebuildState& state) {
    state.done = progress.done;
    state.total = progress.total;
  });
}

void IndexRebuilder::finish(const Result<RebuildState::Phase>& ended) {
  const MutexLock lock(mutex_);
  RebuildState& state = job_->state;
  if (ended) {
    state.phase = *ended;
    log(LogLevel::kInfo, "app", "index rebuild finished", {{"corpus", state.corpus}, {"model", state.model}, {"chunks", state.total}});
    return;
  }
  state.phase = ended.error().code == ErrorCode::kCancelled ? RebuildState::Phase::kCancelled : RebuildState::Phase::kFailed;
  const Error& error = ended.error();
  state.error = error.public_message.empty() ? error.message : error.public_message;
  log(LogLevel::kWarn, "app", "index rebuild stopped", {{"corpus", state.corpus}, {"error", state.error}});
}

Result<void> finish_rebuilds(const CallContext& call, Stores& stores, Embedder& embedder, const std::vector<Corpus>& corpora) {
  const EmbeddingSpace target = embedder.space();
  SqliteReembedding reembedding(stores.store());
  for (const Corpus& corpus : corpora) {
    if (corpus.space == target || !may_be_embedded(corpus)) continue;
    FOOTNOTE_TRY(const auto progress, reembedding.progress(call, corpus.id, target));
    if (progress.total - progress.done > kFinishChunksMax || (progress.done == 0 && progress.total > 0)) {
      log(LogLevel::kWarn, "app", "a corpus was embedded with another model and can't be searched; run `footnote rebuild-index`",
          {{"corpus", corpus.name}, {"model", corpus.space.model_id}, {"embedded", progress.done}, {"chunks", progress.total}});
      continue;
    }
    if (progress.total == 0) continue;
    FOOTNOTE_CHECK(embed_missing(call, reembedding, embedder, corpus.id, [](const auto&) {}));
    FOOTNOTE_TRY(const bool switched, reembedding.switch_over(call, corpus.id, target));
    log(LogLevel::kInfo, "app",
        switched ? "corpus switched to the configured model" : "corpus could not be switched to the configured model",
        {{"corpus", corpus.name}, {"from", corpus.space.model_id}, {"to", target.model_id}, {"chunks", progress.total}});
  }
  return {};
}

}  // namespace footnote::upkeep
