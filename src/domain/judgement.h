#pragma once

#include <optional>

#include "domain/ids.h"

namespace footnote {

/// The part of a passage that answers a question, as far as a passage can: a few words. `range` counts bytes in that passage.
struct FoundAnswer {
  TextRange range;
  double margin = 0;       ///< On the model's own scale: how much likelier than "no answer in here".
  double probability = 0;  ///< The same as a probability that the passage answers, 0..1.
};

/// What a model that read a question and a passage together said of the two.
struct Judgement {
  double raw = 0;                          ///< Relevance, on the model's own scale.
  double calibrated = 0;                   ///< Relevance as a probability, 0..1.
  std::optional<FoundAnswer> answer = {};  ///< Only of models that look for one.
};

}  // namespace footnote
