#include "base/fault_point.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <set>

namespace footnote {
namespace {

using FaultPointDeathTest = testing::Test;

TEST(FaultPointTest, EveryPointHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kFaultPoints; ++i) names.insert(to_string(static_cast<FaultPoint>(i)));
  EXPECT_EQ(names.size(), std::size_t{kFaultPoints});
  EXPECT_FALSE(names.contains("unknown"));
}

// The variable is read once in a process: each case runs in its own.
int reach(const char* chosen, int times) {
  ::setenv("FOOTNOTE_FAULT_POINT", chosen, 1);
  for (int i = 0; i < times; ++i) {
    fault_point(FaultPoint::kFileBeforeSync);
    fault_point(FaultPoint::kCommitAfter);
  }
  return 7;
}

TEST(FaultPointDeathTest, TheChosenPointKillsAtItsNumber) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(reach("commit-after:3", 3)), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(std::exit(reach("commit-after:3", 2)), testing::ExitedWithCode(7), "");
}

TEST(FaultPointDeathTest, ATextThatNamesNoPointChoosesNone) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const char* text : {"", "commit-after", "commit-after:", "commit-after:x", "commit:1", ":1"}) {
    EXPECT_EXIT(std::exit(reach(text, 3)), testing::ExitedWithCode(7), "") << text;
  }
}

}  // namespace
}  // namespace footnote
