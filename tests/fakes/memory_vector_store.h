#pragma once

#include <map>
#include <string>

#include "base/mutex.h"
#include "fakes/faults.h"
#include "fakes/index_table.h"
#include "ports/vector_store.h"

namespace footnote::fakes {

/// Compares the query with every vector. Thread-safe.
class MemoryVectorStore final : public VectorStore {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override;
  Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const override;
  Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const override;
  Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) override;
  Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) override;
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

  /// Faults of search().
  Faults& faults() { return faults_; }

 private:
  struct Space {
    std::size_t dimension = 0;  ///< 0: not known yet.
    Distance distance = Distance::kCosine;
  };
  Result<Space> space_of(const VectorQuery& query) const FOOTNOTE_TSA(requires_capability(mutex_));

  mutable Faults faults_;
  mutable Mutex mutex_;
  IndexTable table_ FOOTNOTE_TSA(guarded_by(mutex_));
  /// By name; the corpus's own space has the name "".
  std::map<CorpusId, std::map<std::string, Space, std::less<>>> spaces_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
