#pragma once

#include <functional>
#include <map>
#include <thread>

#include "domain/catalog.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"

namespace footnote::upkeep {

/// A corpus with fewer passages says too little about a model's scores.
inline constexpr std::int64_t kFitPassagesMin = 20;

/// Whether the scales of a corpus's models are to be fitted (again): it has enough passages, and it was never done with this judge, or it
/// has grown by half since. What an operator set by `footnote calibrate` stays.
bool wants_fit(const Corpus& corpus, std::string_view judge, std::int64_t passages);

/// Fits, for each corpus, the scales of models that are not built in. A corpus is fitted once its content has stopped changing.
class ScaleFit {
 public:
  struct Ports {
    CatalogStore& catalog;
    const ChunkReader& chunks;
    std::string judge;  ///< Empty: there is none.
    /// True if the corpus's vectors are the embedder's, so that questions can be compared with them.
    std::function<bool(const Corpus&)> can_ask;
    /// Measures; stores nothing.
    std::function<Result<GateCalibration>(const CallContext&, const Corpus&)> fit;
  };
  /// Everything is borrowed.
  explicit ScaleFit(Ports ports) : ports_(std::move(ports)) {}

  /// One pass over all corpora. Not thread-safe.
  void look(const CallContext& call);

  /// After a failure, such as a server that does not answer, a corpus is passed over for this many looks.
  static constexpr int kPauseLooks = 120;

 private:
  struct Seen {
    Generation generation = 0;
    std::int64_t unfit_passages = 0;  ///< How many it had when they were found to say too little; 0: never.
    int pause = 0;                    ///< Looks to skip after another failure.
  };
  void look_at(const CallContext& call, const Corpus& corpus, Seen& seen);
  void fit(const CallContext& call, const Corpus& corpus, std::int64_t passages, Seen& seen);

  const Ports ports_;
  std::map<CorpusId, Seen> seen_;
};

/// Looks at all corpora every few seconds, on a background thread.
class ScaleKeeper {
 public:
  explicit ScaleKeeper(ScaleFit::Ports ports);
  /// Cancels a fit in progress; it starts over at the next start.
  ~ScaleKeeper();

 private:
  void run(const std::stop_token& stop);

  ScaleFit fit_;  // used by the thread only
  std::jthread thread_;
};

}  // namespace footnote::upkeep
