#pragma once

#include "base/helper_threads.h"
#include "engine/cpu/cpu_level.h"
#include "ports/chunk_store.h"
#include "ports/late_scorer.h"
#include "providers/local/local_code_index.h"

namespace footnote {

/// Late interaction over the codes in a corpus's file, or in the chunk store where the file lacks them: reads only those of the candidates.
class LocalLateScorer final : public LateScorer {
 public:
  /// Borrows all arguments. Without `codes`, reads everything from the store; `helpers` runs half of the comparisons of codes in the file.
  /// REQUIRES: this CPU supports `level`.
  explicit LocalLateScorer(const ChunkReader& chunks, const LocalCodeIndex* codes = nullptr, cpu::CpuLevel level = cpu::best_cpu_level(),
                           HelperThreads* helpers = nullptr)
      : chunks_(chunks), codes_(codes), level_(level), helpers_(helpers) {}

  Result<std::vector<std::optional<double>>> score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                   std::span<const ChunkId> chunks) const override;

 private:
  const ChunkReader& chunks_;
  const LocalCodeIndex* const codes_;
  const cpu::CpuLevel level_;
  HelperThreads* const helpers_;
};

}  // namespace footnote
