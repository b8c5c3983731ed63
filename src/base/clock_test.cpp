#include "base/clock.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

void check_time(std::string_view text, std::string_view expected) {
  const auto time = parse_rfc3339(text);
  ASSERT_TRUE(time) << text;
  EXPECT_EQ(to_rfc3339(*time), expected) << text;
}

TEST(Clock, ReadsAndWritesTimes) {
  check_time("2026-03-01T09:30:00.125Z", "2026-03-01T09:30:00.125Z");
  check_time("2026-03-01", "2026-03-01T00:00:00.000Z");
  check_time("2026-03-01 09:30:00Z", "2026-03-01T09:30:00.000Z");
  check_time("2026-03-01T09:30:00+02:00", "2026-03-01T07:30:00.000Z");
  check_time("2026-03-01T00:30:00+01:00", "2026-02-28T23:30:00.000Z");
  check_time("2026-03-01T09:30:00.5-00:30", "2026-03-01T10:00:00.500Z");
  check_time("2024-02-29", "2024-02-29T00:00:00.000Z");
  check_time("2026-03-01T09:30:00.1239999Z", "2026-03-01T09:30:00.123Z");
  check_time("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z");
}

TEST(Clock, RefusesWhatIsNoTime) {
  for (std::string_view text :
       {"", "2026", "2026-13-01", "2026-02-29", "2026-3-01", "2026/03/01", "yesterday", "2026-03-01T", "2026-03-01T09:30:00",
        "2026-03-01T24:00:00Z", "2026-03-01T09:60:00Z", "2026-03-01T09:30Z", "2026-03-01T09:30:00Zx", "2026-03-01T09:30:00+0200",
        "2026-03-01T09:30:00+02:00x", "2026-03-01x09:30:00Z", "-026-03-01", "2026-03-01T09:30:00+99:99", "2026-03-01T09:30:00.Z"}) {
    const auto time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Clock, ReadsTimesOfOtherFormsToTheMicrosecond) {
  const UtcMicroseconds expected = *parse_any_time("2026-03-01T07:30:00Z");
  for (const std::string_view text : {"2026-03-01T07:30:00", "2026-03-01 07:30", "2026-03-01T07:30z", "  2026-03-01 09:30:00+0200",
                                      "2026-03-01T09:30:00 +02:00", "2026-03-01 07:30:00 UTC", "2026-03-01T07:30:00.0000009"}) {
    EXPECT_EQ(parse_any_time(text), expected) << text;
  }
  EXPECT_EQ(*parse_any_time("2026-03-01T07:30:00.123456789Z") - expected, std::chrono::microseconds{123'456});
  for (const std::string_view text : {"", " ", "2026-03-01T", "2026-03-01T07", "2026-03-01 07:30 ", "2026-03-01T07:30:00 CET", "07:30"}) {
    EXPECT_FALSE(parse_any_time(text)) << text;
  }
}

TEST(Clock, ManualClockStandsStillUntilTold) {
  ManualClock clock(*parse_rfc3339("2026-03-01"));
  EXPECT_EQ(clock.now(), clock.now());
  clock.advance(std::chrono::hours{25});
  EXPECT_EQ(to_rfc3339(clock.now()), "2026-03-02T01:00:00.000Z");
}

TEST(Clock, SystemClockIsPastTheDayThisWasWritten) { EXPECT_GT(SystemClock().now(), *parse_rfc3339("2024-01-01")); }

TEST(ForwardClock, GoesOnWhenTheWallClockIsSetBack) {
  ManualClock wall{UtcTime{std::chrono::hours{1'000}}};
  std::chrono::steady_clock::time_point steady{};
  const ForwardClock clock(wall, {}, [&] { return steady; });
  const UtcTime start = clock.now();
  const auto pass = [&](std::chrono::milliseconds time, std::chrono::milliseconds on_the_wall) {
    steady += time;
    wall.advance(on_the_wall);
    return clock.now() - start;
  };
  using namespace std::chrono_literals;
  EXPECT_EQ(pass(10s, 10s), 10s);
  EXPECT_EQ(pass(1s, -1h), 11s) << "set back";
  EXPECT_EQ(pass(60s, 60s), 71s);
  EXPECT_EQ(pass(1s, 3h), 2h + 70s) << "set forward: it is taken as it is";
  EXPECT_EQ(pass(0s, 0s), 2h + 70s);
}

TEST(ForwardClock, StartsAtItsMark) {
  ManualClock wall{UtcTime{std::chrono::hours{1'000}}};
  EXPECT_GE(ForwardClock(wall, wall.now() + std::chrono::hours{5}).now(), wall.now() + std::chrono::hours{5});
  EXPECT_EQ(ForwardClock(wall, wall.now() - std::chrono::hours{5}, [] { return std::chrono::steady_clock::time_point{}; }).now(),
            wall.now());
}

}  // namespace
}  // namespace footnote
