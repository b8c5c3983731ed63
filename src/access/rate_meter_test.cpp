#include "access/rate_meter.h"

#include <gtest/gtest.h>

namespace footnote::access {
namespace {

using namespace std::chrono_literals;

constexpr UtcTime kNoon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h};

TEST(RateMeterTest, AMinutesWorthPassesAtOnceAndThenOneByOne) {
  RateMeter meter({60, 0}, {}, kNoon);
  for (int i = 0; i < 60; ++i) ASSERT_FALSE(meter.count(kNoon).retry_after) << i;
  EXPECT_EQ(meter.count(kNoon).retry_after, 1s);
  EXPECT_FALSE(meter.count(kNoon + 1s).retry_after);
  EXPECT_TRUE(meter.count(kNoon + 1s).retry_after);
}

TEST(RateMeterTest, TellsWhatIsLeft) {
  RateMeter meter({60, 1000}, {}, kNoon);
  const RateVerdict verdict = meter.count(kNoon);
  ASSERT_EQ(verdict.windows.size(), 2U);
  EXPECT_EQ(verdict.windows[0].name, "minute");
  EXPECT_EQ(verdict.windows[0].remaining, 59);
  EXPECT_EQ(verdict.windows[0].until_full, 1s);
  EXPECT_EQ(verdict.windows[1].name, "day");
  EXPECT_EQ(verdict.windows[1].remaining, 999);
  EXPECT_EQ(verdict.windows[1].until_full, 12h);
}

TEST(RateMeterTest, ADaysQuotaLastsUntilMidnight) {
  RateMeter meter({0, 2}, {}, kNoon);
  EXPECT_FALSE(meter.count(kNoon).retry_after);
  EXPECT_FALSE(meter.count(kNoon + 6h).retry_after);
  EXPECT_EQ(meter.count(kNoon + 6h).retry_after, 6h);
  EXPECT_FALSE(meter.count(kNoon + 12h).retry_after);
  EXPECT_EQ(meter.usage().requests, 1);
}

TEST(RateMeterTest, WhatWasUsedBeforeARestartCounts) {
  RateMeter before({0, 2}, {}, kNoon);
  before.count(kNoon);
  RateMeter after({0, 2}, before.usage(), kNoon + 1s);
  EXPECT_FALSE(after.count(kNoon + 1s).retry_after);
  EXPECT_TRUE(after.count(kNoon + 1s).retry_after);
}

TEST(RateMeterTest, RefusedRequestsAreNotCounted) {
  RateMeter meter({1, 0}, {}, kNoon);
  meter.count(kNoon);
  for (int i = 0; i < 100; ++i) meter.count(kNoon);
  EXPECT_EQ(meter.usage().requests, 1);
  EXPECT_FALSE(meter.count(kNoon + 60s).retry_after);
}

TEST(RateMeterTest, AClockSetBackRefillsNothing) {
  RateMeter meter({1, 0}, {}, kNoon);
  meter.count(kNoon);
  EXPECT_TRUE(meter.count(kNoon - 1h).retry_after);
}

TEST(RateMeterTest, AClockSetBackAcrossMidnightGivesNoSecondQuota) {
  const KeyUsage used{kNoon, std::chrono::floor<std::chrono::days>(kNoon).time_since_epoch().count(), 3};
  RateMeter meter({0, 3}, used, kNoon - 24h);
  EXPECT_TRUE(meter.count(kNoon - 24h).retry_after);
  EXPECT_TRUE(meter.count(kNoon).retry_after);
  EXPECT_FALSE(meter.count(kNoon + 24h).retry_after);
  RateMeter mistaken({0, 3}, used, kNoon - 48h);
  EXPECT_FALSE(mistaken.count(kNoon - 48h).retry_after) << "a clock that was days ahead must not lock a key out";
}

TEST(RateMeterTest, WithoutBoundsNothingIsRefused) {
  RateMeter meter({0, 0}, {}, kNoon);
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(meter.count(kNoon).retry_after);
  EXPECT_TRUE(meter.count(kNoon).windows.empty());
}

}  // namespace
}  // namespace footnote::access
