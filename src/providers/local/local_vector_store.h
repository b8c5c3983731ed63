#pragma once

#include <optional>

#include "engine/ann/flat_index.h"
#include "ports/vector_store.h"
#include "providers/local/corpus_indexes.h"

namespace footnote {

/// Vectors of each corpus in memory, scanned whole: exact. A corpus's dimension is that of its first vector.
/// Vectors need not have unit length; one without direction (zero, not finite) is left out and logged, so that a
/// single bad row can't keep a corpus from being searched.
class LocalVectorStore final : public VectorStore {
 public:
  /// REQUIRES: the level is usable here.
  explicit LocalVectorStore(cpu::CpuLevel level = cpu::best_cpu_level()) : level_(level) {}

  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override;
  Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) override;
  Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) override;
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

  Result<std::vector<ScoredChunk>> search(const CallContext& call, const VectorQuery& query) const override;
  Result<std::vector<double>> score(const CallContext& call, const VectorQuery& query, std::span<const ChunkId> chunks) const override;

 private:
  /// An index that takes its dimension from the first vector.
  struct Rows {
    std::optional<ann::FlatIndex> index;

    bool contains(std::int64_t label, Generation generation) const { return index && index->contains(label, generation); }
    void forget(Generation died_until) {
      if (index) index->forget(died_until);
    }
    void mark_groups(ann::GroupMask& used) const {
      if (index) index->mark_groups(used);
    }
  };

  Result<void> change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents) const;

  const cpu::CpuLevel level_;
  CorpusIndexes<Rows> corpora_;
};

}  // namespace footnote
