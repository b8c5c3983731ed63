#include "api/concurrency_limit.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

TEST(ConcurrencyLimit, EachNameHasItsPlaces) {
  ConcurrencyLimit limit(2);
  auto first = limit.enter("a");
  const auto second = limit.enter("a");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(limit.enter("a").has_value());
  EXPECT_TRUE(limit.enter("b").has_value()) << "another name";
  first.reset();
  auto third = limit.enter("a");
  EXPECT_TRUE(third.has_value()) << "a place was given back";
  const ConcurrencyLimit::Slot moved = *std::move(third);
  third.reset();
  EXPECT_FALSE(limit.enter("a").has_value()) << "it went on to another holder";
}

}  // namespace
}  // namespace footnote::api
