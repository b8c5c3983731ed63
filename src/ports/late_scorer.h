#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/call_context.h"
#include "domain/ids.h"
#include "domain/token_codes.h"

namespace footnote {

/// Late interaction (MaxSim): matches each token of a question with its best token in a passage. Thread-safe.
class LateScorer {
 public:
  virtual ~LateScorer() = default;
  /// For each chunk, in order, the mean over the question's tokens of their best match: about 0 for no match, below 1. nullopt for a chunk
  /// that does not exist or has no codes of the question's form.
  virtual Result<std::vector<std::optional<double>>> score(const CallContext& call, CorpusId corpus, const QuestionCodes& question,
                                                           std::span<const ChunkId> chunks) const = 0;
};

}  // namespace footnote
