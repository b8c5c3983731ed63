#include "upkeep/stores.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/temp_folder.h"

namespace footnote::upkeep {
namespace {

using footnote::test::TempFolder;

TEST(ClockMarkTest, CountsWhenTheClockWasSetBackByADayAtMost) {
  TempFolder folder;
  const UtcTime now{std::chrono::hours{500'000}};
  EXPECT_EQ(clock_mark(folder.path(), now), UtcTime{});
  const auto mark = [&](UtcTime time) {
    folder.write(std::string(kClockFile), std::to_string(time.time_since_epoch().count()));
    return clock_mark(folder.path(), now);
  };
  EXPECT_EQ(mark(now - std::chrono::hours{1}), UtcTime{});
  EXPECT_EQ(mark(now + std::chrono::hours{1}), now + std::chrono::hours{1});
  EXPECT_EQ(mark(now + kClockMarkMax), now + kClockMarkMax);
  EXPECT_EQ(mark(now + kClockMarkMax + std::chrono::seconds{1}), UtcTime{});
  folder.write(std::string(kClockFile), "yesterday");
  EXPECT_EQ(clock_mark(folder.path(), now), UtcTime{});
}

TEST(ClockMarkTest, TimeGoesOnAcrossARestart) {
  TempFolder folder;
  const UtcTime ahead = SystemClock().now() + std::chrono::hours{5};
  folder.write(std::string(kClockFile), std::to_string(ahead.time_since_epoch().count()));
  auto stores = Stores::open({}, DataFolder::open(folder.path()).value(), kDefaultWorkspace);
  ASSERT_TRUE(stores.has_value()) << stores.error().message;
  EXPECT_GE((*stores)->clock().now(), ahead);
  ASSERT_TRUE((*stores)->mark_clock().has_value());
  EXPECT_GE(clock_mark(folder.path(), SystemClock().now()), ahead);
}

}  // namespace
}  // namespace footnote::upkeep
