#pragma once

#include <span>

#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// Whether the passages found can carry an answer, and how far from the line they are.
struct GateVerdict {
  bool grounded = false;
  double evidence = 0;    ///< The best passage's evidence, see below.
  double threshold = 0;   ///< What it had to reach.
  double cosine = 0;      ///< Of that passage.
  double coverage = 0;    ///< Of that passage.
  double confidence = 0;  ///< Evidence as a probability-like 0..1 that is .5 at the threshold.
};

/// What speaks for one passage, what it takes, and how sure that is: .5 at the threshold. Of a passage that the judge read and whose
/// tokens were compared: both raw numbers, summed. Else raw cosine and word coverage, weighed: a foreign question can share words with a
/// passage, or resemble it in topic, but seldom both.
struct Evidence {
  double value = 0;
  double threshold = 0;
  double confidence = 0;
};
Evidence evidence_of(const Hit& hit, const GatePolicy& policy);

/// Judges by the best of `hits`. Boosts and normalised scores are not read: they order, they do not ground.
GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy);

}  // namespace footnote::retrieve
