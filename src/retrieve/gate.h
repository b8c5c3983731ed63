#pragma once

#include <span>

#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// Whether the retrieved passages can support an answer, and by what margin.
struct GateVerdict {
  bool grounded = false;
  double evidence = 0;     ///< The best passage's probability; see score_model.h.
  double threshold = 0;    ///< The minimum for it.
  double cosine = 0;       ///< The best passage's.
  double coverage = 0;     ///< The best passage's.
  double confidence = 0;   ///< The same as evidence.
  bool calibrated = true;  ///< False: a model's scale is not known (GatePolicy::calibrated).
};

/// Decides by the most probable of `hits`. Ignores boosts and normalised scores, which only order passages.
GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy);

}  // namespace footnote::retrieve
