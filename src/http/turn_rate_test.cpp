#include "http/turn_rate.h"

#include <gtest/gtest.h>

namespace footnote::http {
namespace {

using namespace std::chrono_literals;
using Seconds = TurnRate::Seconds;

const TurnRate::Time kStart{1000s};

/// Counts a turn every `interval` from `from` to `to`.
void count_every(TurnRate& rate, std::chrono::milliseconds interval, std::chrono::milliseconds from, std::chrono::milliseconds to) {
  for (auto at = from; at <= to; at += interval) rate.count(kStart + at);
}

double wait_at(const TurnRate& rate, std::size_t place, std::chrono::milliseconds now) {
  return rate.wait_at(place, kStart + now).value_or(Seconds{-1}).count();
}

TEST(TurnRateTest, TellsTheWaitFromTheTurnsPerSecond) {
  TurnRate rate(5s);
  rate.start(kStart);
  count_every(rate, 10ms, 10ms, 20s);
  EXPECT_NEAR(wait_at(rate, 1, 20s), 0.01, 0.001);
  EXPECT_NEAR(wait_at(rate, 400, 20s), 4, 0.1);
}

TEST(TurnRateTest, SaysNothingBeforeItHasSeenAQuarterOfItsWindow) {
  TurnRate rate(4s);
  rate.start(kStart);
  count_every(rate, 10ms, 10ms, 500ms);
  EXPECT_EQ(rate.wait_at(1, kStart + 1s), std::nullopt);
  EXPECT_TRUE(rate.wait_at(1, kStart + 1200ms));
}

TEST(TurnRateTest, TurnsThatComeInBurstsCountLikeEvenOnes) {
  TurnRate rate(5s);
  rate.start(kStart);
  // 100 a second in bursts: the mean of the last few gaps would be far off at both ends of a burst.
  for (int burst = 1; burst <= 20; ++burst) {
    for (int i = 0; i < 100; ++i) rate.count(kStart + burst * 1s);
  }
  EXPECT_NEAR(wait_at(rate, 100, 20s), 1, 0.15);
  EXPECT_NEAR(wait_at(rate, 100, 20'900ms), 1, 0.15);
}

TEST(TurnRateTest, ASlowerRateIsLearntInAboutAWindow) {
  TurnRate rate(5s);
  rate.start(kStart);
  count_every(rate, 10ms, 10ms, 20s);
  count_every(rate, 1000ms, 21s, 40s);
  EXPECT_GT(wait_at(rate, 1, 40s), 0.3);
  count_every(rate, 10ms, 40'010ms, 50s);
  EXPECT_LT(wait_at(rate, 1, 50s), 0.02);
}

TEST(TurnRateTest, SilenceLengthensTheWaitButNeverPastTheWindowForTheNext) {
  TurnRate rate(5s);
  rate.start(kStart);
  count_every(rate, 10ms, 10ms, 10s);
  EXPECT_LT(wait_at(rate, 1, 10s), wait_at(rate, 1, 12s));
  EXPECT_LE(wait_at(rate, 1, 100s), 5.0);
  EXPECT_GT(wait_at(rate, 2, 100s), 5.0);
}

TEST(TurnRateTest, AnEarlierQueueIsForgotten) {
  TurnRate rate(5s);
  rate.start(kStart);
  count_every(rate, 1000ms, 1s, 10s);
  rate.start(kStart + 100s);
  EXPECT_EQ(rate.wait_at(1, kStart + 101s), std::nullopt);
  count_every(rate, 10ms, 100'010ms, 102s);
  EXPECT_NEAR(wait_at(rate, 1, 102s), 0.01, 0.001);
}

}  // namespace
}  // namespace footnote::http
