#pragma once

#include "fakes/faults.h"
#include "ports/chunk_store.h"
#include "ports/late_scorer.h"

namespace footnote::fakes {

/// Textbook late interaction over the codes of a chunk store. Thread-safe.
class MemoryLateScorer final : public LateScorer {
 public:
  /// Borrows the store.
  explicit MemoryLateScorer(const ChunkReader& chunks) : chunks_(chunks) {}

  Result<std::vector<std::optional<double>>> score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                   std::span<const ChunkId> chunks) const override;
  Faults& faults() { return faults_; }

 private:
  const ChunkReader& chunks_;
  mutable Faults faults_;
};

}  // namespace footnote::fakes
