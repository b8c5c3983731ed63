#include "answer/check_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <numeric>
#include <semaphore>

namespace footnote::answer {
namespace {

constexpr std::chrono::seconds kPatience{30};

TEST(CheckLaneTest, RunsTheJobsOfOneOwnerInTheirOrder) {
  constexpr int kJobs = 50;
  std::vector<int> order;  // unguarded: the lane runs one job of an owner at a time
  std::latch all(kJobs);
  {
    CheckLane lane;
    for (int i = 0; i < kJobs; ++i) {
      ASSERT_TRUE(lane.push(&order, [&, i] {
        order.push_back(i);
        all.count_down();
      }));
    }
    all.wait();
  }
  std::vector<int> wanted(kJobs);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(order, wanted);
}

TEST(CheckLaneTest, ALaneThatIsBehindRestsAndStillRunsAll) {
  std::vector<int> owners(CheckLane::kWaitingMax);
  std::counting_semaphore<> ended{0};
  CheckLane lane;
  for (const int& owner : owners) {
    ASSERT_TRUE(lane.push(&owner, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ended.release();
    }));
  }
  for (std::size_t i = 0; i < owners.size(); ++i) ASSERT_TRUE(ended.try_acquire_for(kPatience)) << i << " jobs ran";
}

TEST(CheckLaneTest, ASlowOwnerDoesNotHoldUpAnother) {
  CheckLane lane;
  std::latch go(1);
  std::counting_semaphore<> slow_ended{0};
  std::binary_semaphore quick{0};
  const int slow_owner = 0, quick_owner = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(lane.push(&slow_owner, [&] {
      go.wait();
      slow_ended.release();
    }));
  }
  ASSERT_TRUE(lane.push(&quick_owner, [&] { quick.release(); }));
  EXPECT_TRUE(quick.try_acquire_for(kPatience)) << "while the slow one still runs";
  go.count_down();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(slow_ended.try_acquire_for(kPatience));
}

TEST(CheckLaneTest, PastItsBoundAJobIsNotTakenAndWhatIsWithdrawnDoesNotRun) {
  std::latch go(1);
  std::atomic<int> runs{0};
  CheckLane lane;
  const int held = 0, waiting = 0, other = 0;
  std::binary_semaphore begun{0};
  ASSERT_TRUE(lane.push(&held, [&] {
    begun.release();
    go.wait();
  }));
  begun.acquire();
  for (std::size_t i = 0; i < CheckLane::kWaitingMax - 1; ++i) ASSERT_TRUE(lane.push(&held, [&] { ++runs; }));
  std::binary_semaphore other_begun{0};
  ASSERT_TRUE(lane.push(&waiting, [&] {
    other_begun.release();
    go.wait();
  }));
  other_begun.acquire();  // all threads are busy
  ASSERT_TRUE(lane.push(&other, [&] { runs += 100; }));
  EXPECT_FALSE(lane.push(&other, [&] { ++runs; }));
  EXPECT_EQ(lane.withdraw(&held), CheckLane::kWaitingMax - 1);
  EXPECT_EQ(lane.withdraw(&held), 0U);
  std::binary_semaphore last{0};
  ASSERT_TRUE(lane.push(&other, [&] { last.release(); }));
  go.count_down();
  last.acquire();
  EXPECT_EQ(runs, 100);
}

}  // namespace
}  // namespace footnote::answer
