#include "http/worker_pool.h"

#include <gtest/gtest.h>

#include <latch>
#include <semaphore>

#include "http/test_socket.h"

namespace footnote::http {
namespace {

using namespace std::chrono_literals;
using testing::eventually;

/// A pool with a manual clock.
class PoolOnAClock {
 public:
  explicit PoolOnAClock(WorkerPoolOptions options) : pool_(with_clock(std::move(options)), depth_, away_) {}
  ~PoolOnAClock() { turns_.release(1000); }

  bool submit_held() {
    return pool_.submit([this] { turns_.acquire(); }, "held").has_value();
  }
  bool submit() { return ticket().has_value(); }
  std::expected<WorkerPool::Ticket, WorkerPool::Refused> ticket() {
    return pool_.submit([this] { turns_.acquire(), ++done_; }, "short");
  }
  void advance(std::chrono::milliseconds time) { now_ += time.count(); }
  /// Lets one task end, and waits until the next has started.
  void turn() {
    const auto before = depth_.value();
    turns_.release();
    EXPECT_TRUE(eventually([&] { return depth_.value() == before - 1; }));
  }
  std::int64_t depth() const { return depth_.value(); }
  WorkerPool& pool() { return pool_; }

 private:
  WorkerPoolOptions with_clock(WorkerPoolOptions options) {
    options.now = [this] { return WorkerPool::Time(std::chrono::milliseconds(now_.load())); };
    return options;
  }

  std::atomic<std::int64_t> now_{1'000'000};
  std::counting_semaphore<> turns_{0};
  std::atomic<int> done_{0};
  Gauge depth_;
  Gauge away_;
  WorkerPool pool_;
};

TEST(WorkerPoolTest, RunsUpToItsThreadsAndQueuesUpToItsBound) {
  Gauge depth, away;
  WorkerPool pool({.threads_max = 2, .queue_max = 3}, depth, away);
  std::latch go(1);
  std::atomic<int> started{0};
  std::atomic<int> done{0};
  const auto task = [&] {
    ++started;
    go.wait();
    ++done;
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.submit(task, "t")) << i;
  EXPECT_TRUE(eventually([&] { return started == 2 && depth.value() == 3; }));
  EXPECT_EQ(pool.submit(task, "t").error().retry_after, kRetryAfterMin);
  go.count_down();
  EXPECT_TRUE(eventually([&] { return done == 5 && depth.value() == 0; }));
  EXPECT_TRUE(pool.submit([&] { ++done; }, "t"));
  EXPECT_TRUE(pool.stop(WorkerPool::Time::max()).empty());
  EXPECT_EQ(done, 6);
  EXPECT_FALSE(pool.submit([] {}, "t"));
}

TEST(WorkerPoolTest, WithoutAQueueOnlyFreeWorkersTakeTasks) {
  Gauge depth, away;
  WorkerPool pool({.threads_max = 1, .queue_max = 0}, depth, away);
  std::latch go(1);
  EXPECT_TRUE(pool.submit([&] { go.wait(); }, "t"));
  EXPECT_FALSE(pool.submit([] {}, "t"));
  go.count_down();
  EXPECT_TRUE(eventually([&] { return pool.submit([] {}, "t").has_value(); }));
}

TEST(WorkerPoolTest, ACancelledTaskDoesNotRunAndLeavesItsPlace) {
  Gauge depth, away;
  WorkerPool pool({.threads_max = 1, .queue_max = 1}, depth, away);
  std::latch go(1);
  std::atomic<int> runs{0};
  const auto running = pool.submit([&] { go.wait(); }, "t");
  EXPECT_TRUE(eventually([&] { return depth.value() == 0; }));
  const auto waiting = pool.submit([&] { ++runs; }, "t");
  EXPECT_FALSE(pool.submit([] {}, "t"));
  EXPECT_TRUE(pool.cancel(*waiting));
  EXPECT_FALSE(pool.cancel(*waiting));
  EXPECT_FALSE(pool.cancel(*running));
  EXPECT_EQ(depth.value(), 0);
  EXPECT_TRUE(pool.submit([&] { runs += 10; }, "t"));
  go.count_down();
  EXPECT_TRUE(pool.stop(WorkerPool::Time::max()).empty());
  EXPECT_EQ(runs, 10);
}

TEST(WorkerPoolTest, RefusesAtOnceWhatWouldWaitTooLong) {
  PoolOnAClock clock({.threads_max = 1, .queue_max = 1000, .wait_max = 4000ms});
  for (int i = 0; i < 41; ++i) EXPECT_TRUE(clock.submit());  // no rate is known yet, so all are accepted
  EXPECT_TRUE(eventually([&] { return clock.depth() == 40; }));
  for (int i = 0; i < 20; ++i) {
    clock.advance(200ms);
    clock.turn();
  }
  // Five turns a second: 20 wait, which is 4 s. The next one would wait longer.
  const auto refused = clock.ticket();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().retry_after, 5s);
  EXPECT_EQ(clock.pool().retry_after(), 5s);
  for (int i = 0; i < 5; ++i) clock.turn();
  EXPECT_TRUE(clock.submit());
}

TEST(WorkerPoolTest, TasksThatHoldAWorkerForeverDoNotSpoilTheEstimate) {
  PoolOnAClock clock({.threads_max = 4, .queue_max = 1000, .wait_max = 4000ms});
  std::latch end(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(clock.pool().submit([&] { end.wait(); }, "stream"));
  EXPECT_TRUE(eventually([&] { return clock.depth() == 0; }));
  clock.advance(3'600s);
  for (int i = 0; i < 201; ++i) EXPECT_TRUE(clock.submit());
  EXPECT_TRUE(eventually([&] { return clock.depth() == 200; }));
  for (int i = 0; i < 100; ++i) {
    clock.advance(20ms);
    clock.turn();
  }
  // The remaining worker gives 50 turns a second: 100 wait for 2 s, and 4 s of waiting are allowed.
  for (int i = 0; i < 90; ++i) EXPECT_TRUE(clock.submit()) << i;
  end.count_down();
}

TEST(WorkerPoolTest, WhereNothingMovesOneMayWaitAndTheRestAreRefused) {
  PoolOnAClock clock({.threads_max = 1, .queue_max = 1000, .wait_max = 4000ms});
  EXPECT_TRUE(clock.submit_held());
  EXPECT_TRUE(eventually([&] { return clock.depth() == 0; }));
  const auto first = clock.ticket();
  EXPECT_TRUE(first);
  clock.advance(100s);
  const auto second = clock.ticket();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().retry_after, 8s);
  EXPECT_TRUE(clock.pool().cancel(*first));
  EXPECT_TRUE(clock.submit());
}

TEST(WorkerPoolTest, RetryAfterIsBoundedAtBothEnds) {
  PoolOnAClock clock({.threads_max = 1, .queue_max = 1000, .wait_max = 4000ms});
  EXPECT_EQ(clock.pool().retry_after(), kRetryAfterMin);
  for (int i = 0; i < 501; ++i) EXPECT_TRUE(clock.submit());
  EXPECT_TRUE(eventually([&] { return clock.depth() == 500; }));
  clock.advance(10s);
  EXPECT_EQ(clock.pool().retry_after(), kRetryAfterMax);
}

TEST(WorkerPoolTest, StopNamesWhatDoesNotEnd) {
  Gauge depth, away;
  std::latch go(1);
  WorkerPool pool({.threads_max = 2, .queue_max = 2}, depth, away);
  std::atomic<bool> quick{false};
  EXPECT_TRUE(pool.submit([&] { go.wait(); }, "stuck"));
  EXPECT_TRUE(pool.submit([&] { quick = true; }, "quick"));
  EXPECT_TRUE(eventually([&] { return depth.value() == 0 && quick.load(); }));
  EXPECT_TRUE(eventually([&] { return pool.stop(std::chrono::steady_clock::now() + 1ms) == std::vector<std::string>{"stuck"}; }));
  go.count_down();
  EXPECT_TRUE(pool.stop(WorkerPool::Time::max()).empty());
}

/// A pool whose tasks wait and resume on command.
class WaitingPoolTest : public ::testing::Test {
 protected:
  /// Waits until released, then works until released again.
  bool submit_waiting(WorkerPool& pool) {
    return pool
        .submit(
            [this] {
              {
                const Waiting waiting;
                come_back_.acquire();
              }
              ++back_;
              end_.acquire();
              ++done_;
            },
            "waits", TaskKind::kWaits)
        .has_value();
  }
  bool submit_short(WorkerPool& pool) {
    return pool.submit([this] { ++short_done_; }, "short").has_value();
  }

  Gauge depth_, away_;
  std::counting_semaphore<> come_back_{0};
  std::counting_semaphore<> end_{0};
  std::atomic<int> back_{0};
  std::atomic<int> done_{0};
  std::atomic<int> short_done_{0};
};

TEST_F(WaitingPoolTest, ATaskThatWaitsLeavesItsPlaceToOthers) {
  WorkerPool pool({.threads_max = 2, .queue_max = 100, .waits_max = 24}, depth_, away_);
  for (int i = 0; i < 24; ++i) EXPECT_TRUE(submit_waiting(pool)) << i;
  EXPECT_TRUE(eventually([&] { return away_.value() == 24 && depth_.value() == 0; }));
  EXPECT_TRUE(submit_short(pool));
  EXPECT_TRUE(eventually([&] { return short_done_ == 1; }));
  come_back_.release(24);
  end_.release(24);
  EXPECT_TRUE(eventually([&] { return done_ == 24 && away_.value() == 0; }));
  EXPECT_TRUE(submit_short(pool)) << "the remaining threads take tasks";
  EXPECT_TRUE(eventually([&] { return short_done_ == 2; }));
}

TEST_F(WaitingPoolTest, PastTheirBoundTasksThatWaitAreRefusedAndOthersAreNot) {
  WorkerPool pool({.threads_max = 2, .queue_max = 100, .waits_max = 2}, depth_, away_);
  EXPECT_TRUE(submit_waiting(pool));
  EXPECT_TRUE(submit_waiting(pool));
  EXPECT_TRUE(eventually([&] { return away_.value() == 2; }));
  EXPECT_EQ(pool.submit([] {}, "waits", TaskKind::kWaits).error().retry_after, kRetryAfterWaits);
  EXPECT_TRUE(submit_short(pool));
  EXPECT_TRUE(eventually([&] { return short_done_ == 1; }));
  come_back_.release();
  end_.release();
  EXPECT_TRUE(eventually([&] { return pool.submit([] {}, "waits", TaskKind::kWaits).has_value(); })) << "one of the two has ended";
  come_back_.release();
  end_.release();
}

TEST_F(WaitingPoolTest, WhatComesBackGoesOnAtOnceAndWhatIsNewWaits) {
  WorkerPool pool({.threads_max = 1, .queue_max = 100, .waits_max = 8}, depth_, away_);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(submit_waiting(pool));
  EXPECT_TRUE(eventually([&] { return away_.value() == 3; }));
  come_back_.release(3);
  EXPECT_TRUE(eventually([&] { return back_ == 3; })) << "more than threads_max: started work never waits";
  EXPECT_TRUE(submit_short(pool));
  EXPECT_EQ(depth_.value(), 1);
  end_.release(2);
  EXPECT_TRUE(eventually([&] { return done_ == 2; }));
  EXPECT_EQ(short_done_, 0) << "the last one still occupies the only thread";
  end_.release();
  EXPECT_TRUE(eventually([&] { return short_done_ == 1; }));
}

TEST_F(WaitingPoolTest, ACancelledTaskThatWouldHaveWaitedLeavesRoomForAnother) {
  WorkerPool pool({.threads_max = 1, .queue_max = 1, .waits_max = 1}, depth_, away_);
  std::latch go(1);
  EXPECT_TRUE(pool.submit([&] { go.wait(); }, "held"));
  EXPECT_TRUE(eventually([&] { return depth_.value() == 0; }));
  const auto waiting = pool.submit([] {}, "waits", TaskKind::kWaits);
  ASSERT_TRUE(waiting);
  EXPECT_FALSE(pool.submit([] {}, "waits", TaskKind::kWaits));
  EXPECT_TRUE(pool.cancel(*waiting));
  EXPECT_TRUE(pool.submit([] {}, "waits", TaskKind::kWaits));
  go.count_down();
}

TEST_F(WaitingPoolTest, StopRunsWhatIsQueuedAndNamesWhoStillWaits) {
  WorkerPool pool({.threads_max = 1, .queue_max = 100, .waits_max = 2}, depth_, away_);
  EXPECT_TRUE(submit_waiting(pool));
  EXPECT_TRUE(eventually([&] { return away_.value() == 1; }));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(submit_short(pool));
  EXPECT_TRUE(eventually([&] { return pool.stop(std::chrono::steady_clock::now() + 1ms) == std::vector<std::string>{"waits"}; }));
  EXPECT_TRUE(eventually([&] { return short_done_ == 10; }));
  EXPECT_FALSE(submit_waiting(pool));
  come_back_.release();
  end_.release();
  EXPECT_TRUE(pool.stop(WorkerPool::Time::max()).empty());
  EXPECT_EQ(done_, 1);
}

TEST_F(WaitingPoolTest, ManyTasksThatComeAndGoAreAllRun) {
  WorkerPool pool({.threads_max = 3, .queue_max = 10'000, .waits_max = 16}, depth_, away_);
  std::atomic<int> runs{0};
  int taken = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto brief_wait = [&] {
      {
        const Waiting waiting;
      }
      ++runs;
    };
    if (pool.submit(brief_wait, "waits", TaskKind::kWaits)) ++taken;
    if (pool.submit([&] { ++runs; }, "short")) ++taken;
  }
  EXPECT_TRUE(pool.stop(WorkerPool::Time::max()).empty());
  EXPECT_GE(taken, 2'000);
  EXPECT_EQ(runs, taken);
}

}  // namespace
}  // namespace footnote::http
