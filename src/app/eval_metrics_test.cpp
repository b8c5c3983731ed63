#include "app/eval_metrics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"

namespace footnote::app {
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

TEST(EvalScorer, MeansOverQuestions) {
  EvalScorer scorer;
  scorer.add(ranking("a b"), Grades{{"a", 1}});
  scorer.add(ranking("a b"), Grades{{"b", 1}});
  const EvalScores means = scorer.means();
  EXPECT_EQ(means.questions, 2U);
  EXPECT_DOUBLE_EQ(means.mrr_10, 0.75);
  EXPECT_DOUBLE_EQ(means.ndcg_10, (1 + 1 / std::log2(3)) / 2);
  EXPECT_DOUBLE_EQ(means.recall_10, 1);
  EXPECT_EQ(EvalScorer().means().questions, 0U);
}

}  // namespace
}  // namespace footnote::app
