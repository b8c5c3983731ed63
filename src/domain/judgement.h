#pragma once

#include <optional>

#include "domain/ids.h"

namespace footnote {

/// The few words of a passage that answer a question best. `range` counts bytes in that passage.
struct FoundAnswer {
  TextRange range;
  double margin = 0;       ///< Model's score of this answer minus that of "no answer in here".
  double probability = 0;  ///< The same, calibrated to a probability, 0..1.
};

/// The output of a model that read a question and a passage together.
struct Judgement {
  double raw = 0;                          ///< Relevance on the model's own scale.
  double calibrated = 0;                   ///< Relevance as a probability, 0..1.
  std::optional<FoundAnswer> answer = {};  ///< Only from models that extract one.
};

}  // namespace footnote
