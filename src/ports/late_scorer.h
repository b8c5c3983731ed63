#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/call_context.h"
#include "domain/ids.h"
#include "domain/token_codes.h"

namespace footnote {

/// Late interaction: how well each token of a question is met by some token of a passage. Thread-safe.
class LateScorer {
 public:
  virtual ~LateScorer() = default;
  /// The mean over the question's tokens of their best match in each of these chunks, in their order: about 0 where nothing
  /// fits, below 1. nullopt for a chunk that is not there or has no codes of the question's form.
  virtual Result<std::vector<std::optional<double>>> score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                           std::span<const ChunkId> chunks) const = 0;
};

}  // namespace footnote
