#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "api/rebuild_routes.h"
#include "base/mutex.h"
#include "ingest/index_sync.h"
#include "providers/local/local_code_index.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/sqlite/sqlite_reembedding.h"
#include "upkeep/index_files.h"
#include "upkeep/stores.h"

namespace footnote::upkeep {

/// Opens the embedder of that name for a corpus; an empty name means the configured one. Shared, because it keeps its connections alive.
/// kFailedPrecondition: there is no such embedder.
using OpenEmbedder =
    std::function<Result<std::shared_ptr<Embedder>>(const CallContext& call, const Corpus& corpus, std::string_view model)>;

/// Runs a process's index rebuilds. With the corpus's own model, fresh indexes are built from the store, saved, and swapped in; the old
/// ones serve meanwhile. If that model is named explicitly, token codes of an outdated form are renewed first. With another model, every
/// chunk gets a second set of vectors. The corpus then switches to that model: at once if nobody can query it meanwhile (the server runs
/// with that model, or this process answers no questions), else at the next start with that model: see finish_rebuilds.
class IndexRebuilder final : public api::IndexRebuilds {
 public:
  struct Ports {
    Stores& stores;
    Embedder* embedder;  ///< Embeds questions; null: this process answers none.
    LocalVectorStore& vectors;
    LocalKeywordIndex& keywords;
    LocalCodeIndex& codes;
    ingest::IndexSync& sync;
    IndexFiles& files;
  };
  /// Everything is borrowed.
  IndexRebuilder(Ports ports, OpenEmbedder open) : ports_(ports), open_(std::move(open)) {}
  /// Cancels a running rebuild; finished work is kept.
  ~IndexRebuilder() override;

  Result<api::RebuildState> start(const CallContext& call, WorkspaceId workspace, std::string_view corpus,
                                  const std::optional<std::string>& model) override;
  std::optional<api::RebuildState> state(WorkspaceId workspace) const override;
  Result<api::RebuildState> cancel(const CallContext& call, WorkspaceId workspace) override;

 private:
  struct Job {
    WorkspaceId workspace;
    CorpusId corpus;
    api::RebuildState state;
  };

  void run(const std::stop_token& stop, const Corpus& corpus, Embedder* target);
  Result<api::RebuildState::Phase> work(const CallContext& call, const Corpus& corpus, Embedder* target);
  Result<void> refresh(const CallContext& call, const Corpus& corpus);
  Result<void> change_over(const CallContext& call, const Corpus& corpus, const EmbeddingSpace& space);
  void update(const std::function<void(api::RebuildState&)>& change);
  void note(const SqliteReembedding::Progress& progress);
  void finish(const Result<api::RebuildState::Phase>& ended);

  const Ports ports_;
  const OpenEmbedder open_;

  mutable Mutex mutex_;
  std::optional<Job> job_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::jthread thread_ FOOTNOTE_TSA(guarded_by(mutex_));
};

/// Completes rebuilds to the embedder's space that are nearly done: embeds the remaining chunks and switches those corpora over. For the
/// others it logs what to do; querying them is refused. Call before the indexes are built.
Result<void> finish_rebuilds(const CallContext& call, Stores& stores, Embedder& embedder, const std::vector<Corpus>& corpora);
/// Bound on the chunks that finish_rebuilds embeds per corpus.
inline constexpr std::int64_t kFinishChunksMax = 1'000;

}  // namespace footnote::upkeep
