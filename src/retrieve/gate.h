#pragma once

#include <span>

#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// Whether the retrieved passages can support an answer, and by what margin.
struct GateVerdict {
  bool grounded = false;
  double evidence = 0;    ///< The best passage's evidence; see Evidence.
  double threshold = 0;   ///< The minimum for it.
  double cosine = 0;      ///< The best passage's.
  double coverage = 0;    ///< The best passage's.
  double confidence = 0;  ///< Evidence mapped to 0..1, like a probability; .5 at the threshold.
};

/// The evidence for one passage, its threshold, and the resulting confidence: .5 at the threshold. If the judge read the passage and its
/// tokens were compared, the evidence is the sum of both raw scores. Otherwise it is a weighted mean of raw cosine and word coverage: an
/// off-topic question can share words with a passage, or resemble it in topic, but seldom both.
struct Evidence {
  double value = 0;
  double threshold = 0;
  double confidence = 0;
};
Evidence evidence_of(const Hit& hit, const GatePolicy& policy);

/// Decides by the best of `hits`. Ignores boosts and normalised scores, which only order passages.
GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy);

}  // namespace footnote::retrieve
