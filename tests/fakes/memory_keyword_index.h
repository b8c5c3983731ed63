#pragma once

#include "base/mutex.h"
#include "fakes/faults.h"
#include "fakes/index_table.h"
#include "ports/keyword_index.h"

namespace footnote::fakes {

/// BM25 by reading every row: title, heading path, symbol and text. Thread-safe.
class MemoryKeywordIndex final : public KeywordIndex {
 public:
  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override;
  Result<std::vector<ScoredChunk>> search(const CallContext& call, const KeywordQuery& query) const override;
  Result<std::vector<double>> coverage(const CallContext& call, const KeywordQuery& query, std::span<const ChunkId> chunks) const override;
  Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) override;
  Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) override;
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

  /// Faults of search().
  Faults& faults() { return faults_; }
  Faults& apply_faults() { return apply_faults_; }
  std::size_t drops() const;
  /// Texts of the rows visible in the newest generation, sorted.
  std::vector<std::string> texts(CorpusId corpus) const;

 private:
  mutable Faults faults_;
  Faults apply_faults_;
  mutable Mutex mutex_;
  IndexTable table_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t drops_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
