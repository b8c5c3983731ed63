#pragma once

#include "engine/cpu/cpu_level.h"
#include "ports/chunk_store.h"
#include "ports/late_scorer.h"

namespace footnote {

/// Late interaction over the codes that lie in the chunk store: only those of the candidates are read.
class LocalLateScorer final : public LateScorer {
 public:
  /// Borrows the store. REQUIRES: the level is usable here.
  explicit LocalLateScorer(const ChunkReader& chunks, cpu::CpuLevel level = cpu::best_cpu_level()) : chunks_(chunks), level_(level) {}

  Result<std::vector<std::optional<double>>> score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                   std::span<const ChunkId> chunks) const override;

 private:
  const ChunkReader& chunks_;
  const cpu::CpuLevel level_;
};

}  // namespace footnote
