#include "retrieve/score_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace footnote::retrieve {
namespace {

struct Signals {
  double cosine = 0;
  double late = 0;  ///< 0: not computed.
  double coverage = 0;
  std::optional<double> judge = {};  ///< A probability.
};

Hit hit_with(const Signals& signals) {
  Hit out;
  out.cosine = signals.cosine;
  out.coverage = signals.coverage;
  if (signals.late != 0) out.terms.push_back({Stage::kLate, signals.late, 0.5, 0.5});
  if (signals.judge) out.judged = Judgement{.raw = 0, .calibrated = *signals.judge};
  return out;
}

double probability(const Signals& signals, const GatePolicy& policy = {}) { return probability_of(hit_with(signals), policy); }

/// Medians of the best passages of the development sets.
constexpr Signals kCovered{.cosine = 0.62, .late = 0.49, .coverage = 0.6, .judge = 0.2};
constexpr Signals kForeign{.cosine = 0.23, .late = 0.28, .coverage = 0.25, .judge = 0.004};

const GatePolicy kNothingKnown{.known = {.cosine = false, .late = false, .judge = false}};

TEST(ScoreModel, TellsACoveredQuestionFromAForeignOneByAnySignals) {
  for (int known = 0; known < 8; ++known) {
    const GatePolicy policy{.known = {.cosine = (known & 1) != 0, .late = (known & 2) != 0, .judge = (known & 4) != 0}};
    EXPECT_GT(probability(kCovered, policy), 0.8) << known;
    EXPECT_LT(probability(kForeign, policy), 0.2) << known;
  }
}

TEST(ScoreModel, AMissingSignalLowersCertainty) {
  Signals signals = kCovered;
  const double all = probability(signals);
  signals.judge.reset();
  const double unread = probability(signals);
  signals.late = 0;
  const double uncompared = probability(signals);
  const double words = probability(signals, kNothingKnown);
  EXPECT_LT(unread, all);
  EXPECT_LT(uncompared, unread);
  EXPECT_LT(words, uncompared);
}

TEST(ScoreModel, EverySignalRaisesIt) {
  const double before = probability({.cosine = 0.4, .late = 0.4, .coverage = 0.4, .judge = 0.05});
  EXPECT_GT(probability({.cosine = 0.5, .late = 0.4, .coverage = 0.4, .judge = 0.05}), before);
  EXPECT_GT(probability({.cosine = 0.4, .late = 0.5, .coverage = 0.4, .judge = 0.05}), before);
  EXPECT_GT(probability({.cosine = 0.4, .late = 0.4, .coverage = 0.5, .judge = 0.05}), before);
  EXPECT_GT(probability({.cosine = 0.4, .late = 0.4, .coverage = 0.4, .judge = 0.5}), before);
}

TEST(ScoreModel, TheJudgeCountsWithinItsLimits) {
  const auto at = [](double judge) { return probability({.cosine = 0.4, .late = 0.4, .coverage = 0.4, .judge = judge}); };
  const double most = 1 / (1 + std::exp(-kJudgeOddsMax));
  const double least = 1 / (1 + std::exp(-kJudgeOddsMin));
  EXPECT_NEAR(at(1), at(most), 1e-9);
  EXPECT_NEAR(at(0), at(least), 1e-9);
  EXPECT_LT(at(most - 0.01), at(most));
}

TEST(ScoreModel, ScoresOfAnyRangeOfAnUnknownRerankerKeepTheGate) {
  const GatePolicy policy = policy_for(kBuiltInEmbedder, kBuiltInEmbedder, "cohere:some-model");
  EXPECT_FALSE(policy.calibrated);
  for (const double judge : {0.0, 0.0001, 0.01, 0.5, 0.99, 1.0}) {
    Signals covered = kCovered;
    Signals foreign = kForeign;
    covered.judge = foreign.judge = judge;
    EXPECT_GT(probability(covered, policy), 0.5) << judge;
    EXPECT_LT(probability(foreign, policy), 0.5) << judge;
  }
}

TEST(ScoreModel, CosinesOfAnUnknownEmbedderKeepTheGate) {
  for (const std::string_view codes : {kBuiltInEmbedder, std::string_view()}) {
    const GatePolicy policy = policy_for("text-embedding-3-small", codes, kBuiltInJudge);
    EXPECT_FALSE(policy.calibrated);
    for (const double cosine : {0.1, 0.7, 0.85}) {
      Signals covered = kCovered;
      Signals foreign = kForeign;
      covered.cosine = foreign.cosine = cosine;
      if (codes.empty()) covered.late = foreign.late = 0;
      EXPECT_GT(probability(covered, policy), 0.5);
      EXPECT_LT(probability(foreign, policy), 0.5);
    }
  }
}

TEST(ScoreModel, TheBuiltInModelsAreKnown) {
  EXPECT_TRUE(policy_for(kBuiltInEmbedder, kBuiltInEmbedder, kBuiltInJudge).calibrated);
  EXPECT_TRUE(policy_for(kBuiltInEmbedder, "", "").calibrated) << "without codes and judge";
}

TEST(ScoreModel, ACalibrationBringsOtherModelsToTheKnownScale) {
  const GatePolicy unknown = policy_for("hosted", "", "tei");
  const GateCalibration made{.evidence_min = 0.4, .judge = "tei", .cosine = SignalScale{2, -1.2}, .judge_scale = SignalScale{1, -3}};
  const GatePolicy policy = calibrated_policy(unknown, made);
  EXPECT_TRUE(policy.calibrated);
  EXPECT_EQ(policy.probability_min, 0.4);
  const double expected = probability({.cosine = 0.5, .coverage = 0.3, .judge = 1 / (1 + std::exp(2.0))});
  EXPECT_NEAR(probability({.cosine = 0.85, .coverage = 0.3, .judge = 1 / (1 + std::exp(-1.0))}, policy), expected, 1e-9);
  GateCalibration half = made;
  half.judge_scale.reset();
  EXPECT_FALSE(calibrated_policy(unknown, half).calibrated) << "its reranker is still unknown";
}

}  // namespace
}  // namespace footnote::retrieve
