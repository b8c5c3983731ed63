#include "answer/store_lane.h"

#include <latch>
#include <vector>

#include <gtest/gtest.h>

namespace footnote::answer {
namespace {

using namespace std::chrono_literals;

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + 30s; }

TEST(StoreLane, RunsJobsInOrder) {
  std::vector<int> done;
  StoreLane lane;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(lane.push([&done, i] { done.push_back(i); }));
  ASSERT_TRUE(lane.wait_until_idle(soon()));
  ASSERT_EQ(done.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
}

TEST(StoreLane, TakesNoMoreThanItsBound) {
  std::latch running(1);
  std::latch open(1);
  std::size_t ran = 0;
  StoreLane lane;
  ASSERT_TRUE(lane.push([&] {
    running.count_down();
    open.wait();
  }));
  running.wait();
  for (std::size_t i = 0; i < StoreLane::kWaitingMax; ++i) ASSERT_TRUE(lane.push([&] { ++ran; })) << i;
  EXPECT_FALSE(lane.push([&] { ++ran; }));
  open.count_down();
  ASSERT_TRUE(lane.wait_until_idle(soon()));
  EXPECT_EQ(ran, StoreLane::kWaitingMax);
  EXPECT_TRUE(lane.push([] {})) << "there is room again";
}

TEST(StoreLane, StoresWhatWaitsBeforeItEnds) {
  std::size_t ran = 0;
  {
    StoreLane lane;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(lane.push([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 100u);
}

}  // namespace
}  // namespace footnote::answer
