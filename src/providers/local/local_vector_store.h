#pragma once

#include <optional>

#include "engine/ann/flat_index.h"
#include "ports/vector_store.h"
#include "providers/local/corpus_indexes.h"
#include "providers/local/saved_index.h"

namespace footnote {

/// Vectors of each corpus in memory, scanned whole: exact. A corpus's dimension is that of its first vector.
/// Vectors need not have unit length; one without direction (zero, not finite) is left out and logged, so that a
/// single bad row can't keep a corpus from being searched.
class LocalVectorStore final : public VectorStore, public SavedIndex {
 public:
  /// REQUIRES: the level is usable here.
  explicit LocalVectorStore(cpu::CpuLevel level = cpu::best_cpu_level()) : level_(level) {}

  Result<Generation> generation(const CallContext& call, CorpusId corpus) const override;
  Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) override;
  Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) override;
  Result<void> drop(const CallContext& call, CorpusId corpus) override;

  IndexKind kind() const override { return IndexKind::kVectors; }
  std::uint32_t rules() const override { return 1; }
  IndexExtent extent(CorpusId corpus) const override { return corpora_.extent(corpus); }
  Result<void> save(const std::filesystem::path& path, const IndexHead& head) const override { return corpora_.save(path, head); }
  Result<void> load(IndexFileReader& file) override { return corpora_.load(file); }

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
    std::uint64_t row_count() const { return index ? index->row_count() : 0; }
    Result<void> save(ByteSink& sink) const;
    Result<void> load(ByteSource& source, const ann::RowLimits& limits);
  };

  Result<void> change(const IndexChanges& changes, Rows& rows, DocumentTableWriter& documents) const;

  const cpu::CpuLevel level_;
  CorpusIndexes<Rows> corpora_;
};

}  // namespace footnote
