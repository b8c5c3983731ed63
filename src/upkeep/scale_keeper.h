#pragma once

#include <functional>
#include <map>
#include <thread>

#include "domain/catalog.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"

namespace footnote::upkeep {

/// Corpora with fewer passages are not fitted: they say too little about a model's scores.
inline constexpr std::int64_t kFitPassagesMin = 20;

/// Whether the scales of a corpus's models need to be fitted: it has enough passages, and it was never fitted with this judge or has grown
/// by half since. Values that an operator set with `footnote calibrate` are kept.
bool wants_fit(const Corpus& corpus, std::string_view judge, std::int64_t passages);

/// Fits, for each corpus, the scales of models that are not built in. A corpus is fitted once its content has stopped changing.
class ScaleFit {
 public:
  struct Ports {
    CatalogStore& catalog;
    const ChunkReader& chunks;
    std::string judge;  ///< The judge's model; empty: none.
    /// True if the corpus's vectors are the embedder's, so that questions can be compared with them.
    std::function<bool(const Corpus&)> can_ask;
    /// Measures; stores nothing.
    std::function<Result<GateCalibration>(const CallContext&, const Corpus&)> fit;
  };
  /// Everything is borrowed.
  explicit ScaleFit(Ports ports) : ports_(std::move(ports)) {}

  /// One pass over all corpora. Not thread-safe.
  void look(const CallContext& call);

  /// After a failure, such as a server that does not answer, a corpus is skipped for this many passes.
  static constexpr int kPauseLooks = 120;

 private:
  struct Seen {
    Generation generation = 0;
    std::int64_t unfit_passages = 0;  ///< Number of passages when a fit found too little information; 0: never.
    int pause = 0;                    ///< Passes left to skip after a failure.
  };
  void look_at(const CallContext& call, const Corpus& corpus, Seen& seen);
  void fit(const CallContext& call, const Corpus& corpus, std::int64_t passages, Seen& seen);

  const Ports ports_;
  std::map<CorpusId, Seen> seen_;
};

/// Runs ScaleFit every few seconds on a background thread.
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
