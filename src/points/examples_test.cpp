#include "points/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace footnote::points {
namespace {

using ::testing::ElementsAre;

TEST(Examples, TheAverageMovesAwayFromNegativeExamples) {
  const std::vector<std::vector<float>> positive{{1, 0}, {3, 0}}, negative{{0, 1}};
  EXPECT_THAT(average_vector(positive, {}), ElementsAre(2, 0));
  EXPECT_THAT(average_vector(positive, negative), ElementsAre(4, -1));
}

TEST(Examples, TheNearestExampleDecidesTheSign) {
  const std::vector<double> high{1}, low{0.5}, none;
  EXPECT_DOUBLE_EQ(best_score(high, low), 0.75);
  EXPECT_DOUBLE_EQ(best_score(low, high), -0.75);
  EXPECT_DOUBLE_EQ(best_score(none, high), -0.75);
  EXPECT_DOUBLE_EQ(sum_score(high, low), 0.5);
}

TEST(Examples, PairsRankAndTheTargetOrdersWithinARank) {
  const std::vector<double> positive{0.9, 0.1}, negative{0.2, 0.1};
  EXPECT_DOUBLE_EQ(discovery_score(1.0, positive, negative), 1 + 0.75);
  EXPECT_NEAR(discovery_score(std::nullopt, positive, negative), 0, 1e-6);
  EXPECT_LT(discovery_score(std::nullopt, negative, positive), -0.4);
}

TEST(Examples, DistancesCountDownwards) {
  EXPECT_DOUBLE_EQ(similarity_of(Distance::kEuclid, 3), -9);
  EXPECT_DOUBLE_EQ(similarity_of(Distance::kManhattan, 3), -3);
  const std::vector<float> a{1, 2}, b{4, 6};
  EXPECT_DOUBLE_EQ(similarity_between(Distance::kEuclid, a, b), -25);
  EXPECT_DOUBLE_EQ(similarity_between(Distance::kManhattan, a, b), -7);
  EXPECT_DOUBLE_EQ(similarity_between(Distance::kDot, a, b), 16);
}

TEST(Examples, DiversityPrefersWhatIsUnlikeTheChosen) {
  const std::vector<double> relevance{0.9, 0.89, 0.5};
  const auto between = [](std::size_t i, std::size_t j) { return i + j == 1 ? 0.99 : 0.1; };  // 0 and 1 are alike
  EXPECT_THAT(diversified(relevance, 0.5, 3, between), ElementsAre(0, 2, 1));
  EXPECT_THAT(diversified(relevance, 0, 3, between), ElementsAre(0, 1, 2));
  EXPECT_THAT(diversified(relevance, 0.5, 2, between), ElementsAre(0, 2));
}

}  // namespace
}  // namespace footnote::points
