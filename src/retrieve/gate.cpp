#include "retrieve/gate.h"

#include "retrieve/score_model.h"

namespace footnote::retrieve {

GateVerdict judge_grounding(std::span<const Hit> hits, const GatePolicy& policy) {
  GateVerdict verdict{.threshold = policy.probability_min, .calibrated = policy.calibrated};
  for (const Hit& hit : hits) {
    const double probability = probability_of(hit, policy);
    if (&hit != hits.data() && probability <= verdict.evidence) continue;
    verdict.evidence = verdict.confidence = probability;
    verdict.cosine = hit.cosine;
    verdict.coverage = hit.coverage;
  }
  verdict.grounded = !hits.empty() && verdict.evidence >= verdict.threshold;
  return verdict;
}

}  // namespace footnote::retrieve
