#include "retrieve/gate.h"

#include <gtest/gtest.h>

#include <vector>

#include "retrieve/score_model.h"

namespace footnote::retrieve {
namespace {

Hit hit(double cosine, double coverage) { return {.cosine = cosine, .coverage = coverage}; }

GateVerdict judge(const std::vector<Hit>& hits, const GatePolicy& policy = {}) { return judge_grounding(hits, policy); }

struct Row {
  double cosine;
  double coverage;
  bool grounded;
  const char* why;
};

TEST(Gate, OnePassage) {
  const Row table[] = {
      {0.90, 1.00, true, "both strong"},
      {0.60, 0.00, true, "a high cosine needs no words"},
      {0.50, 0.40, true, "together they reach"},
      {0.40, 0.20, false, "together they do not"},
      {0.20, 0.60, false, "most words, but the topic is another"},
      {0.10, 1.00, true, "an error code: all words, little for an embedder"},
      {0.00, 1.00, false, "all words, no resemblance"},
      {-0.30, 1.00, false, "opposite"},
      {0.00, 0.00, false, "nothing"},
  };
  for (const Row& row : table) {
    const GateVerdict verdict = judge({hit(row.cosine, row.coverage)});
    EXPECT_EQ(verdict.grounded, row.grounded) << row.why << " " << verdict.confidence;
    EXPECT_EQ(verdict.confidence, verdict.evidence) << "one number";
    EXPECT_EQ(verdict.threshold, GatePolicy{}.probability_min);
  }
}

TEST(Gate, NoPassagesGroundNothing) {
  const GateVerdict verdict = judge({}, {.probability_min = 0});
  EXPECT_FALSE(verdict.grounded);
  EXPECT_EQ(verdict.confidence, 0);
}

TEST(Gate, TheBestPassageDecidesWhereverItStands) {
  const GateVerdict verdict = judge({hit(0.3, 0), hit(0.55, 0.8), hit(0.1, 0.5)});
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

TEST(Gate, TheThresholdItselfPasses) {
  const double probability = probability_of(hit(0.5, 0.5), {});
  EXPECT_TRUE(judge({hit(0.5, 0.5)}, {.probability_min = probability}).grounded);
  EXPECT_FALSE(judge({hit(0.5, 0.49)}, {.probability_min = probability}).grounded);
}

TEST(Gate, SaysWhetherItsModelsAreKnown) {
  EXPECT_TRUE(judge({hit(0.5, 0.5)}).calibrated);
  EXPECT_FALSE(judge({hit(0.5, 0.5)}, policy_for("another", "", "")).calibrated);
}

}  // namespace
}  // namespace footnote::retrieve
