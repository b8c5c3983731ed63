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

/// Opens the embedder of that name for a corpus, the configured one for an empty name; shared, because it keeps the connections alive that
/// it borrows. kFailedPrecondition: it is not there.
using OpenEmbedder =
    std::function<Result<std::shared_ptr<Embedder>>(const CallContext& call, const Corpus& corpus, std::string_view model)>;

/// Rebuilds of a process. With the corpus's own model fresh indexes are made from the store, saved, and put in the place of those that
/// answer meanwhile; where that model is named, token codes of another form than it makes now are made anew before. With another one every
/// chunk gets vectors of it beside its own; when nobody can ask the corpus meanwhile (it is the model that the server runs with, or this
/// process answers no questions), the corpus changes over at once, else at the next start with that model: see finish_rebuilds.
class IndexRebuilder final : public api::IndexRebuilds {
 public:
  struct Ports {
    Stores& stores;
    Embedder* embedder;  ///< What questions are embedded by; null: this process answers none.
    LocalVectorStore& vectors;
    LocalKeywordIndex& keywords;
    LocalCodeIndex& codes;
    ingest::IndexSync& sync;
    IndexFiles& files;
  };
  /// Everything is borrowed.
  IndexRebuilder(Ports ports, OpenEmbedder open) : ports_(ports), open_(std::move(open)) {}
  /// Stops what is running; what it did so far stays.
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
  Result<api::RebuildState::Phase> work(const CallContext& call, const Corpus& corpus, Embedder* target);  ///< Null: no other model.
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

/// Ends rebuilds toward the embedder's space of which little is left to do: embeds that, and changes those corpora over. The others are
/// named in the log with what to do; asking them is refused. Call before the indexes are built.
Result<void> finish_rebuilds(const CallContext& call, Stores& stores, Embedder& embedder, const std::vector<Corpus>& corpora);
/// Chunks that finish_rebuilds embeds at most, of one corpus.
inline constexpr std::int64_t kFinishChunksMax = 1'000;

}  // namespace footnote::upkeep
