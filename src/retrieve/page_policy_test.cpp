#include "retrieve/page_policy.h"

#include <gtest/gtest.h>

namespace footnote::retrieve {
namespace {

Hit hit(std::string url, double probability) {
  Hit out;
  out.document.url = std::move(url);
  out.probability = probability;
  return out;
}

TEST(PagePolicy, PassagesOfThePageRiseByTheBoostHoweverItsAddressIsSpelt) {
  std::vector<Hit> hits{hit("https://shop.example/lamp/", .5), hit("https://shop.example/lamps", .5), hit("", .5),
                        hit("HTTPS://Shop.Example:443/lamp?utm_source=x#top", .5)};
  EXPECT_TRUE(boost_page(hits, "https://shop.example/lamp", .15));
  for (const std::size_t i : {0u, 3u}) {
    EXPECT_DOUBLE_EQ(hits[i].score, .15);
    ASSERT_NE(hits[i].term(Stage::kBoost), nullptr);
    EXPECT_DOUBLE_EQ(boosted_probability(hits[i]), .65);
    EXPECT_EQ(hits[i].probability, .5) << "the unboosted number is kept";
  }
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(hits[i].term(Stage::kBoost), nullptr);
    EXPECT_EQ(boosted_probability(hits[i]), .5);
  }
}

TEST(PagePolicy, ABoostNeverLeavesTheScale) {
  std::vector<Hit> hits{hit("https://shop.example/lamp", .95)};
  boost_page(hits, "https://shop.example/lamp", .15);
  EXPECT_EQ(boosted_probability(hits[0]), 1);
}

TEST(PagePolicy, WithoutAPageNothingIsBoosted) {
  std::vector<Hit> hits{hit("", .4), hit("https://shop.example/", .4)};
  EXPECT_FALSE(boost_page(hits, "", .15));
  EXPECT_FALSE(boost_page(hits, "https://shop.example/", 0));
}

}  // namespace
}  // namespace footnote::retrieve
