#pragma once

#include "base/helper_threads.h"
#include "engine/cpu/cpu_level.h"
#include "ports/chunk_store.h"
#include "ports/late_scorer.h"
#include "providers/local/local_code_index.h"

namespace footnote {

/// Late interaction over the codes of a corpus's file and, where that lacks some, of the chunk store: only those of the candidates are
/// read.
class LocalLateScorer final : public LateScorer {
 public:
  /// Borrows all of them. Without `codes` all are read from the store; `helpers` compares half of what is in the file. REQUIRES: the
  /// level is usable here.
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
