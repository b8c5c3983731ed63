#pragma once

#include <span>

#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// Whether the retrieved passages can support an answer, and by what margin.
struct GateVerdict {
  bool grounded = false;
  double evidence = 0;     ///< The best passage's probability; see score_model.h.
  double threshold = 0;    ///< The minimum evidence for an answer.
  double cosine = 0;       ///< Cosine of the best passage.
  double coverage = 0;     ///< Coverage of the best passage.
  double confidence = 0;   ///< Equal to evidence.
  bool calibrated = true;  ///< False: a model's scale is not known (GatePolicy::calibrated).
};

/// Decides by the most probable of `hits`. Ignores boosts and normalised scores, which only order passages.
GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy);

}  // namespace footnote::retrieve
