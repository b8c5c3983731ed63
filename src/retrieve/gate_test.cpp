#include "retrieve/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace footnote::retrieve {
namespace {

constexpr GatePolicy kPolicy{.cosine_sure = 0.60, .cosine_min = 0.25, .evidence_min = 0.45, .coverage_weight = 0.35};

Hit hit(double cosine, double coverage) { return {.cosine = cosine, .coverage = coverage}; }

GateVerdict judge(const std::vector<Hit>& hits) { return judge_grounding(hits, kPolicy); }

struct Row {
  double cosine;
  double coverage;
  bool grounded;
  const char* why;
};

TEST(Gate, OnePassage) {
  const Row table[] = {
      {0.90, 1.00, true, "both strong"},
      {0.60, 0.00, true, "a sure cosine needs no words"},
      {0.59, 0.00, false, "one short of sure, no words"},
      {0.50, 0.40, true, "together they reach: .325 + .14"},
      {0.50, 0.30, false, "together they do not: .325 + .105"},
      {0.25, 0.90, true, "at the least cosine, nearly all words: .1625 + .315"},
      {0.24, 0.84, false, "most words, but the topic is another"},
      {0.24, 1.00, true, "an error code: all words, little for an embedder to go by"},
      {0.09, 1.00, false, "words alone never ground"},
      {0.00, 1.00, false, "all words, no resemblance"},
      {-0.30, 1.00, false, "opposite"},
      {0.00, 0.00, false, "nothing"},
  };
  for (const Row& row : table) {
    const GateVerdict verdict = judge({hit(row.cosine, row.coverage)});
    EXPECT_EQ(verdict.grounded, row.grounded) << row.why;
    EXPECT_EQ(verdict.confidence >= 0.5, row.grounded) << row.why;
    EXPECT_EQ(verdict.threshold, kPolicy.evidence_min);
  }
}

TEST(Gate, NoPassagesGroundNothing) {
  const GateVerdict verdict = judge({});
  EXPECT_FALSE(verdict.grounded);
  EXPECT_EQ(verdict.confidence, 0);
}

TEST(Gate, TheBestPassageDecidesWhereverItStands) {
  const GateVerdict verdict = judge({hit(0.3, 0), hit(0.55, 0.8), hit(0.1, 1)});
  EXPECT_TRUE(verdict.grounded);
  EXPECT_EQ(verdict.cosine, 0.55);
  EXPECT_EQ(verdict.coverage, 0.8);
}

TEST(Gate, ReadsRawNumbersNotTheScoreThatOrders) {
  Hit boosted = hit(0.1, 0.1);
  boosted.score = 100;
  boosted.terms = {{Stage::kBoost, 1, 1, 100}, {Stage::kVector, 0.1, 1.0, 0.55}};
  EXPECT_FALSE(judge({boosted}).grounded);
}

Hit judged_hit(double late, double relevance) {
  Hit out = hit(0.1, 0.1);
  out.terms = {{Stage::kLate, late, 0.5, 0.5}};
  out.judged = Judgement{.raw = relevance, .calibrated = 0.5};
  return out;
}

TEST(Gate, OfAJudgedPassageTokensAndRelevanceDecide) {
  constexpr GatePolicy policy{.late_weight = 100, .late_floor = 0.4, .judged_min = 50};
  EXPECT_TRUE(judge_grounding(std::vector{judged_hit(0.48, 2)}, policy).grounded) << "at the line, cosine and words aside";
  EXPECT_FALSE(judge_grounding(std::vector{judged_hit(0.48, 1.9)}, policy).grounded);
  EXPECT_TRUE(judge_grounding(std::vector{judged_hit(0.1, 10)}, policy).grounded) << "other words, but the judge is sure";
  EXPECT_FALSE(judge_grounding(std::vector{judged_hit(0.1, 9.9)}, policy).grounded);
  const GateVerdict verdict = judge_grounding(std::vector{judged_hit(0.2, 0), judged_hit(0.55, 1)}, policy);
  EXPECT_TRUE(verdict.grounded);
  EXPECT_DOUBLE_EQ(verdict.evidence, 56);
  EXPECT_EQ(verdict.threshold, 50);
  EXPECT_GT(verdict.confidence, 0.5);
}

TEST(Gate, AJudgedPassageWhoseTokensWereNotComparedIsReadAsBefore) {
  Hit without = hit(0.9, 1);
  without.judged = Judgement{.raw = -8, .calibrated = 0};
  EXPECT_TRUE(judge({without}).grounded);
  EXPECT_EQ(judge({without}).threshold, kPolicy.evidence_min);
}

TEST(Gate, ConfidenceIsHalfAtTheThresholdAndGrowsWithTheEvidence) {
  EXPECT_NEAR(judge({hit(0.6, 0)}).confidence, 0.5, 1e-9);
  double before = 0;
  for (double cosine = -1; cosine <= 1.0; cosine += 0.05) {
    const double confidence = judge({hit(cosine, 0.5)}).confidence;
    EXPECT_TRUE(std::isfinite(confidence));
    EXPECT_GE(confidence + 1e-12, before) << cosine;
    EXPECT_LE(confidence, 1);
    before = confidence;
  }
}

}  // namespace
}  // namespace footnote::retrieve
