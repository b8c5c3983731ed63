#include "retrieve/gate.h"

#include <algorithm>
#include <cmath>

namespace footnote::retrieve {

namespace {

/// Slope of the confidence at the threshold: .1 of evidence moves it from .5 to .82 or .18.
constexpr double kConfidenceSlope = 15;
/// The same for a judged passage, whose evidence ranges from about 15 to 60: 5 of evidence have that effect.
constexpr double kJudgedSlope = 0.3;

Evidence measured(double value, double threshold, double slope) {
  return {value, threshold, 1 / (1 + std::exp(-slope * (value - threshold)))};
}

Evidence judged_evidence(double late, double relevance, const GatePolicy& policy) {
  return measured(policy.late_weight * std::max(late, policy.late_floor) + relevance, policy.judged_min, kJudgedSlope);
}

Evidence plain_evidence(const Hit& hit, const GatePolicy& policy) {
  double value = (1 - policy.coverage_weight) * hit.cosine + policy.coverage_weight * hit.coverage;
  if (hit.cosine >= policy.cosine_sure) value = std::max(value, policy.evidence_min);
  const double cosine_min = hit.coverage >= policy.coverage_sure ? policy.cosine_min_worded : policy.cosine_min;
  if (hit.cosine < cosine_min) value = std::min(value, policy.evidence_min * hit.cosine / cosine_min);
  return measured(value, policy.evidence_min, kConfidenceSlope);
}

}  // namespace

Evidence evidence_of(const Hit& hit, const GatePolicy& policy) {
  const StageScore* late = hit.term(Stage::kLate);
  const bool compared = late != nullptr && late->raw != 0;
  return hit.judged && compared ? judged_evidence(late->raw, hit.judged->raw, policy) : plain_evidence(hit, policy);
}

GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy) {
  GateVerdict verdict{.threshold = policy.evidence_min};
  for (const Hit& hit : hits) {
    const Evidence evidence = evidence_of(hit, policy);
    if (&hit != hits.data() && evidence.confidence <= verdict.confidence) continue;
    verdict = {.grounded = evidence.value >= evidence.threshold,
               .evidence = evidence.value,
               .threshold = evidence.threshold,
               .cosine = hit.cosine,
               .coverage = hit.coverage,
               .confidence = evidence.confidence};
  }
  return verdict;
}

}  // namespace footnote::retrieve
