#include "retrieve/gate.h"

#include <cmath>

namespace footnote::retrieve {

namespace {

/// How fast confidence leaves .5 on either side of the threshold: .1 of evidence moves it to .82 or .18.
constexpr double kConfidenceSlope = 15;

}  // namespace

double evidence_of(const Hit& hit, const GatePolicy& policy) {
  return (1 - policy.coverage_weight) * hit.cosine + policy.coverage_weight * hit.coverage;
}

GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy) {
  GateVerdict verdict{.threshold = policy.evidence_min};
  for (const Hit& hit : hits) {
    double evidence = evidence_of(hit, policy);
    const bool sure = hit.cosine >= policy.cosine_sure;
    if (sure) evidence = std::max(evidence, policy.evidence_min);
    const double cosine_min = hit.coverage >= policy.coverage_sure ? policy.cosine_min_worded : policy.cosine_min;
    if (hit.cosine < cosine_min) evidence = std::min(evidence, policy.evidence_min * hit.cosine / cosine_min);
    if (&hit == hits.data() || evidence > verdict.evidence) {
      verdict.evidence = evidence;
      verdict.cosine = hit.cosine;
      verdict.coverage = hit.coverage;
    }
  }
  verdict.grounded = !hits.empty() && verdict.evidence >= policy.evidence_min;
  verdict.confidence = hits.empty() ? 0 : 1 / (1 + std::exp(-kConfidenceSlope * (verdict.evidence - policy.evidence_min)));
  return verdict;
}

}  // namespace footnote::retrieve
