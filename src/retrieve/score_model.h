#pragma once

#include <string_view>

#include "domain/catalog.h"
#include "domain/profile.h"
#include "domain/retrieval.h"

namespace footnote::retrieve {

/// The models that the coefficients were fitted with.
inline constexpr std::string_view kBuiltInEmbedder = "all-MiniLM-L6-v2";
inline constexpr std::string_view kBuiltInJudge = "local:judge";

/// The judge's log odds are clamped to these limits: values beyond them carry no more information.
inline constexpr double kJudgeOddsMin = -7;
inline constexpr double kJudgeOddsMax = 3;

/// The probability that this passage answers its question, 0..1: the one number that gates, thresholds and confidence use. A logistic model
/// of the available raw signals whose scale `policy` knows: cosine, late interaction, the judge's log odds, and always word coverage. Each
/// set of signals has its own coefficients. With fewer signals, probabilities are closer to one half. At .5, a best passage with these
/// signals is as likely for an unrelated question as for one that the corpus answers.
double probability_of(const Hit& hit, const GatePolicy& policy);

/// The policy for these models, before any calibration: only the built-in ones have a known scale. `judge` is empty if there is none.
GatePolicy policy_for(std::string_view embedder, std::string_view code_model, std::string_view judge);

/// Like policy_for, with what `calibrate` measured for a corpus: a threshold, and the scales of models that are not built in.
GatePolicy calibrated_policy(GatePolicy policy, const GateCalibration& made);

}  // namespace footnote::retrieve
