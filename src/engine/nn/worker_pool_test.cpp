#include "engine/nn/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace footnote::nn {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<WorkerPool> pool_of(std::size_t threads) { return *WorkerPool::start(threads); }

TEST(WorkerPool, RunsEveryStepOnce) {
  const auto pool = pool_of(3);
  std::vector<std::atomic<int>> runs(100);
  ASSERT_TRUE(pool->run({}, runs.size(), [&](std::size_t step, std::size_t worker) {
    EXPECT_LT(worker, 3U);
    ++runs[step];
  }));
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  EXPECT_TRUE(pool->run({}, 0, [](std::size_t, std::size_t) { FAIL(); }));
}

TEST(WorkerPool, AWorkerRunsOneStepAtATime) {
  const auto pool = pool_of(2);
  std::atomic<int> busy[2] = {0, 0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      EXPECT_TRUE(pool->run({}, 50, [&](std::size_t, std::size_t worker) {
        EXPECT_EQ(busy[worker]++, 0);
        --busy[worker];
      }));
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(WorkerPool, AShortCallOvertakesALongOne) {
  const auto pool = pool_of(1);
  std::atomic<std::size_t> long_steps = 0;
  std::thread caller([&] {
    EXPECT_TRUE(pool->run({}, 50, [&](std::size_t, std::size_t) {
      ++long_steps;
      std::this_thread::sleep_for(milliseconds(2));
    }));
  });
  while (long_steps == 0) std::this_thread::yield();
  EXPECT_TRUE(pool->run({}, 1, [](std::size_t, std::size_t) {}));
  EXPECT_LT(long_steps, 50U);
  caller.join();
}

TEST(WorkerPool, StopsBetweenStepsWhenTheCallEnds) {
  const auto pool = pool_of(2);
  std::stop_source stop;
  std::atomic<int> runs = 0;
  CallContext call;
  call.stop = stop.get_token();
  const auto cancelled = pool->run(call, 1000, [&](std::size_t, std::size_t) {
    if (++runs == 5) stop.request_stop();
  });
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_LT(runs, 1000);
  const auto late = pool->run(CallContext::with_timeout(milliseconds(20)), 1000,
                              [](std::size_t, std::size_t) { std::this_thread::sleep_for(milliseconds(5)); });
  EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(WorkerPool, AWaitingCallLeavesAtItsDeadline) {
  const auto pool = pool_of(1);
  std::atomic<bool> release = false;
  std::thread caller([&] {
    EXPECT_TRUE(pool->run({}, 1, [&](std::size_t, std::size_t) {
      while (!release) std::this_thread::sleep_for(milliseconds(1));
    }));
  });
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(pool->run(CallContext::with_timeout(milliseconds(20)), 1, [](std::size_t, std::size_t) { FAIL(); }).error().code,
            ErrorCode::kDeadlineExceeded);
  release = true;
  caller.join();
}

TEST(WorkerPool, TheQueueIsBounded) {
  const auto pool = pool_of(1);
  std::atomic<bool> release = false;
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < WorkerPool::kCallsMax; ++i) {
    callers.emplace_back([&] {
      // A try below may be in the queue for a moment: then there is no room yet.
      for (;;) {
        const auto done = pool->run({}, 1, [&](std::size_t, std::size_t) {
          while (!release) std::this_thread::sleep_for(milliseconds(1));
        });
        if (done) return;
        EXPECT_EQ(done.error().code, ErrorCode::kResourceExhausted);
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  ErrorCode code = ErrorCode::kInternal;
  for (int attempt = 0; attempt < 1000 && code != ErrorCode::kResourceExhausted; ++attempt) {
    const auto refused = pool->run(CallContext::with_timeout(milliseconds(10)), 1, [](std::size_t, std::size_t) {});
    if (!refused) code = refused.error().code;
  }
  EXPECT_EQ(code, ErrorCode::kResourceExhausted);
  release = true;
  for (std::thread& caller : callers) caller.join();
}

TEST(WorkerPool, AStepThatThrowsFailsItsCallAlone) {
  const auto pool = pool_of(2);
  const auto failed = pool->run({}, 10, [](std::size_t, std::size_t) { throw std::runtime_error("no"); });
  EXPECT_EQ(failed.error().code, ErrorCode::kInternal);
  EXPECT_TRUE(pool->run({}, 10, [](std::size_t, std::size_t) {}));
}

}  // namespace
}  // namespace footnote::nn
