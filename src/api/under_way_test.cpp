#include "api/under_way.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

TEST(UnderWay, EachNameHasItsPlaces) {
  UnderWay under_way(2);
  auto first = under_way.enter("a");
  const auto second = under_way.enter("a");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(under_way.enter("a").has_value());
  EXPECT_TRUE(under_way.enter("b").has_value()) << "another name";
  first.reset();
  auto third = under_way.enter("a");
  EXPECT_TRUE(third.has_value()) << "a place was given back";
  const UnderWay::Place moved = *std::move(third);
  third.reset();
  EXPECT_FALSE(under_way.enter("a").has_value()) << "it went on to another holder";
}

}  // namespace
}  // namespace footnote::api
