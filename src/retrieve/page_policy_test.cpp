#include "retrieve/page_policy.h"

#include <gtest/gtest.h>

#include "retrieve/gate.h"

namespace footnote::retrieve {
namespace {

Hit hit(std::string url, double cosine, double coverage) {
  Hit out;
  out.document.url = std::move(url);
  out.cosine = cosine;
  out.coverage = coverage;
  return out;
}

TEST(PagePolicy, TheCalibratedScoreIsOneHalfWhereTheGateOpens) {
  const GatePolicy policy;
  EXPECT_NEAR(calibrated_score(hit("", .4, .4), policy), .5, 1e-9);
  EXPECT_GT(calibrated_score(hit("", .5, .5), policy), .5);
  EXPECT_LT(calibrated_score(hit("", .3, .3), policy), .5);
}

TEST(PagePolicy, TheScoreOfAJudgedPassageIsTheSameKindOfNumber) {
  const GatePolicy policy;
  Hit judged = hit("", 0, 0);
  judged.terms.push_back({Stage::kLate, .5, 0, .5});
  judged.judged = Judgement{.raw = policy.judged_min - policy.late_weight * .5};
  EXPECT_NEAR(calibrated_score(judged, policy), .5, 1e-9);
}

TEST(PagePolicy, PassagesOfThePageRiseByTheBoostHoweverItsAddressIsSpelt) {
  std::vector<Hit> hits{hit("https://shop.example/lamp/", .4, .4), hit("https://shop.example/lamps", .4, .4), hit("", .4, .4),
                        hit("HTTPS://Shop.Example:443/lamp?utm_source=x#top", .4, .4)};
  EXPECT_TRUE(boost_page(hits, "https://shop.example/lamp", .15));
  const GatePolicy policy;
  for (const std::size_t i : {0u, 3u}) {
    EXPECT_DOUBLE_EQ(hits[i].score, .15);
    ASSERT_NE(hits[i].term(Stage::kBoost), nullptr);
    EXPECT_NEAR(boosted_score(hits[i], policy), .65, 1e-9);
    EXPECT_NEAR(calibrated_score(hits[i], policy), .5, 1e-9) << "the unboosted score is kept";
  }
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(hits[i].term(Stage::kBoost), nullptr);
    EXPECT_NEAR(boosted_score(hits[i], policy), .5, 1e-9);
  }
}

TEST(PagePolicy, ABoostNeverLeavesTheScale) {
  std::vector<Hit> hits{hit("https://shop.example/lamp", .95, 1)};
  boost_page(hits, "https://shop.example/lamp", .15);
  EXPECT_EQ(boosted_score(hits[0], GatePolicy{}), 1);
}

TEST(PagePolicy, WithoutAPageNothingIsBoosted) {
  std::vector<Hit> hits{hit("", .4, .4), hit("https://shop.example/", .4, .4)};
  EXPECT_FALSE(boost_page(hits, "", .15));
  EXPECT_FALSE(boost_page(hits, "https://shop.example/", 0));
}

}  // namespace
}  // namespace footnote::retrieve
