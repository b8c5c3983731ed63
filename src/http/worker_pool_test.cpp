#include "http/worker_pool.h"

#include <gtest/gtest.h>

#include <latch>

#include "http/test_socket.h"

namespace footnote::http {
namespace {

using testing::eventually;

TEST(WorkerPoolTest, RunsUpToItsThreadsAndQueuesUpToItsBound) {
  Gauge depth;
  WorkerPool pool(2, 3, depth);
  std::latch go(1);
  std::atomic<int> started{0};
  std::atomic<int> done{0};
  const auto task = [&] {
    ++started;
    go.wait();
    ++done;
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.submit(task)) << i;
  EXPECT_TRUE(eventually([&] { return started == 2 && depth.value() == 3; }));
  EXPECT_FALSE(pool.submit(task));
  go.count_down();
  EXPECT_TRUE(eventually([&] { return done == 5 && depth.value() == 0; }));
  EXPECT_TRUE(pool.submit([&] { ++done; }));
  pool.stop();
  EXPECT_EQ(done, 6);
  EXPECT_FALSE(pool.submit([] {}));
}

TEST(WorkerPoolTest, WithoutAQueueOnlyFreeWorkersTakeTasks) {
  Gauge depth;
  WorkerPool pool(1, 0, depth);
  std::latch go(1);
  EXPECT_TRUE(pool.submit([&] { go.wait(); }));
  EXPECT_FALSE(pool.submit([] {}));
  go.count_down();
  EXPECT_TRUE(eventually([&] { return pool.submit([] {}); }));
}

}  // namespace
}  // namespace footnote::http
