#include "api/visitor_quota.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

const UtcTime kNow = *parse_rfc3339("2026-03-01T09:00:00Z");

TEST(VisitorQuota, SoManyAMinuteForEachName) {
  VisitorQuota quota(30);
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(quota.count("a", kNow)) << i;
  const auto wait = quota.count("a", kNow);
  ASSERT_TRUE(wait);
  EXPECT_GE(wait->count(), 1);
  EXPECT_FALSE(quota.count("b", kNow));
  EXPECT_FALSE(quota.count("a", kNow + *wait));
}

TEST(VisitorQuota, IsRememberedOverTheTurnOfAMinute) {
  VisitorQuota quota(2);
  (void)quota.count("a", kNow);
  UtcTime now = kNow + std::chrono::seconds{59};
  EXPECT_FALSE(quota.count("a", now));
  EXPECT_FALSE(quota.count("a", now));
  EXPECT_TRUE(quota.count("a", now + std::chrono::seconds{2}));
}

TEST(VisitorQuota, BearsMoreNamesThanItKeeps) {
  VisitorQuota quota(1);
  for (std::size_t i = 0; i < VisitorQuota::kNamesMax + 10; ++i) EXPECT_FALSE(quota.count(std::to_string(i), kNow));
}

}  // namespace
}  // namespace footnote::api
