#include "eval/metrics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"

namespace footnote::eval {
namespace {

std::vector<std::string> ranking(std::string_view names) {
  std::vector<std::string> out;
  for (const auto name : split(names, ' ')) {
    if (!name.empty()) out.emplace_back(name);
  }
  return out;
}

TEST(Ndcg, GradedGainsWithLogDiscount) {
  const Grades grades{{"a", 2}, {"b", 1}};
  const double ideal = 2 / std::log2(2) + 1 / std::log2(3);
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("a b"), grades, 10), 1);
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("b a"), grades, 10), (1 + 2 / std::log2(3)) / ideal);
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("x y a"), grades, 10), (2 / std::log2(4)) / ideal);
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("x y z"), grades, 10), 0);
}

TEST(Ndcg, OnlyTheFirstKCountOnBothSides) {
  const Grades grades{{"a", 1}, {"b", 1}, {"c", 1}};
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("a b x c"), grades, 2), 1);
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("x a"), grades, 1), 0);
}

TEST(Ndcg, ZeroAndNegativeGradesAreNotRelevant) {
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("a"), Grades{{"a", 0}, {"b", -1}}, 10), 0);
  EXPECT_DOUBLE_EQ(ndcg_at(ranking("b a"), Grades{{"a", 1}, {"b", -1}}, 10), 1 / std::log2(3));
}

TEST(Ndcg, ARepeatedDocumentCountsOnce) { EXPECT_DOUBLE_EQ(ndcg_at(ranking("a a b"), Grades{{"a", 1}, {"b", 1}}, 10), 1); }

TEST(ReciprocalRank, FirstRelevantPlace) {
  const Grades grades{{"a", 1}, {"b", 3}};
  EXPECT_DOUBLE_EQ(reciprocal_rank_at(ranking("x b a"), grades, 10), 0.5);
  EXPECT_DOUBLE_EQ(reciprocal_rank_at(ranking("x y a"), grades, 2), 0);
  EXPECT_DOUBLE_EQ(reciprocal_rank_at(ranking(""), grades, 10), 0);
}

TEST(Recall, ShareOfTheRelevant) {
  const Grades grades{{"a", 1}, {"b", 1}, {"c", 2}, {"d", 0}};
  EXPECT_DOUBLE_EQ(recall_at(ranking("a x d c"), grades, 10), 2.0 / 3);
  EXPECT_DOUBLE_EQ(recall_at(ranking("a x d c"), grades, 3), 1.0 / 3);
  EXPECT_DOUBLE_EQ(recall_at(ranking("a"), Grades{{"d", 0}}, 3), 0);
}

TEST(AveragePrecision, CountsWhatIsMissingAsNothing) {
  EXPECT_DOUBLE_EQ(average_precision(ranking("a x b"), {{"a", 1}, {"b", 2}}), (1.0 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(average_precision(ranking("a x"), {{"a", 1}, {"b", 1}}), 0.5);
  EXPECT_DOUBLE_EQ(average_precision(ranking("a"), {}), 0);
}

TEST(AreaUnderCurve, IsTheChanceThatAPositiveScoresHigher) {
  const std::vector<double> high{2, 3};
  const std::vector<double> low{1, 2};
  EXPECT_DOUBLE_EQ(area_under_curve(high, low), (1 + 1 + 0.5 + 1) / 4);
  EXPECT_DOUBLE_EQ(area_under_curve(low, high), 0.5 / 4);
  EXPECT_DOUBLE_EQ(area_under_curve({}, low), 0.5);
}

TEST(Decisions, CountPrecisionAndRecall) {
  Decisions decisions;
  for (int i = 0; i < 3; ++i) decisions.add(true, true);
  decisions.add(true, false);
  decisions.add(false, true);
  decisions.add(false, false);
  EXPECT_DOUBLE_EQ(decisions.precision(), 0.75);
  EXPECT_DOUBLE_EQ(decisions.recall(), 0.75);
  EXPECT_DOUBLE_EQ(decisions.f1(), 0.75);
  EXPECT_DOUBLE_EQ(decisions.accuracy(), 4.0 / 6);
  EXPECT_DOUBLE_EQ(Decisions().f1(), 0);
}

TEST(Answers, AreComparedByTheirWords) {
  EXPECT_TRUE(exact_match("the  16 Weeks.", "16 weeks"));
  EXPECT_FALSE(exact_match("16", "16 weeks"));
  EXPECT_DOUBLE_EQ(word_f1("16 weeks off", "16 weeks"), 0.8);
  EXPECT_DOUBLE_EQ(word_f1("two two", "two"), 2.0 / 3) << "each word matches once";
  EXPECT_DOUBLE_EQ(word_f1("", ""), 0);
}

TEST(CalibrationError, WeighsBinsByTheirAnswers) {
  EXPECT_DOUBLE_EQ(calibration_error({}), 0);
  EXPECT_DOUBLE_EQ(calibration_error(std::vector<Prediction>{{1, true}}), 0);
  EXPECT_DOUBLE_EQ(calibration_error(std::vector<Prediction>{{1, false}}), 1);
  EXPECT_NEAR(calibration_error(std::vector<Prediction>{{0.52, true}, {0.58, false}}), 0.05, 1e-12) << "one bin: .55 said, .5 right";
  EXPECT_NEAR(calibration_error(std::vector<Prediction>{{0.48, true}, {0.52, false}}), 0.52, 1e-12)
      << "two bins do not make up for each other";
  EXPECT_NEAR(calibration_error(std::vector<Prediction>{{0.95, true}, {1, false}}), 0.475, 1e-12) << "1 lies in the last bin";
}

TEST(Percentile, IsAValueThatWasThere) {
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{7}, 0.95), 7);
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{9, 1}, 0.5), 1);
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{9, 1}, 0.95), 9);
  EXPECT_DOUBLE_EQ(percentile(std::vector<double>{3, 1, 2}, 0), 1);
}

}  // namespace
}  // namespace footnote::eval
