#include "retrieve/score_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "retrieve/fuse.h"

namespace footnote::retrieve {

namespace {

struct Coefficients {
  double bias = 0;
  double coverage = 0;
  double cosine = 0;
  double late = 0;
  double judge = 0;
};

constexpr std::size_t kHasCosine = 1;
constexpr std::size_t kHasLate = 2;
constexpr std::size_t kHasJudge = 4;

/// Fitted on equal shares of questions about five corpora and of unrelated ones (docs/adr/0027-one-scale.md). They were fitted on
/// judgements of whole passages. Log odds of excerpts are .3 higher at the gate; the biases correct for that
/// (docs/adr/0033-what-the-judge-reads.md). Indexed by the signals that a passage has.
constexpr std::array<Coefficients, 8> kCoefficients{{
    {.bias = -4.173, .coverage = 10.373},
    {.bias = -8.707, .coverage = 7.271, .cosine = 14.895},
    {.bias = -15.765, .coverage = 4.13, .late = 35.823},
    {.bias = -14.466, .coverage = 5.866, .cosine = 8.923, .late = 21.865},
    {.bias = 3.405, .coverage = 6.251, .judge = 1.481},
    {.bias = -3.094, .coverage = 5.442, .cosine = 11.573, .judge = 0.897},
    {.bias = -7.438, .coverage = 2.693, .late = 25.212, .judge = 0.897},
    {.bias = -7.761, .coverage = 3.891, .cosine = 6.315, .late = 17.323, .judge = 0.776},
}};

double on_scale(double value, const SignalScale& scale) { return scale.slope * value + scale.offset; }

}  // namespace

double probability_of(const Hit& hit, const GatePolicy& policy) {
  const StageScore* late = hit.term(Stage::kLate);
  const bool has_cosine = policy.known.cosine;
  const bool has_late = policy.known.late && late != nullptr && late->raw != 0;
  const bool has_judge = policy.known.judge && hit.judged.has_value();
  const std::size_t row = (has_cosine ? kHasCosine : 0) + (has_late ? kHasLate : 0) + (has_judge ? kHasJudge : 0);
  const Coefficients& weights = kCoefficients.at(row);
  double odds = weights.bias + weights.coverage * hit.coverage;
  if (has_cosine) odds += weights.cosine * on_scale(hit.cosine, policy.cosine);
  if (has_late) odds += weights.late * late->raw;
  if (has_judge) {
    odds += weights.judge * std::clamp(on_scale(log_odds(hit.judged->calibrated), policy.judge), kJudgeOddsMin, kJudgeOddsMax);
  }
  return 1 / (1 + std::exp(-odds));
}

GatePolicy policy_for(std::string_view embedder, std::string_view code_model, std::string_view judge) {
  GatePolicy out;
  out.known = {.cosine = embedder == kBuiltInEmbedder, .late = code_model == kBuiltInEmbedder, .judge = judge == kBuiltInJudge};
  out.calibrated = out.known.cosine && (judge.empty() || out.known.judge);
  return out;
}

GatePolicy calibrated_policy(GatePolicy policy, const GateCalibration& made) {
  policy.probability_min = made.evidence_min;
  if (made.cosine) {
    policy.cosine = *made.cosine;
    policy.known.cosine = true;
  }
  if (made.judge_scale) {
    policy.judge = *made.judge_scale;
    policy.known.judge = true;
  }
  policy.calibrated = policy.known.cosine && (made.judge.empty() || policy.known.judge);
  return policy;
}

}  // namespace footnote::retrieve
