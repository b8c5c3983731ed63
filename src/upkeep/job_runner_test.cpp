#include "upkeep/job_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "fakes/memory_job_store.h"

namespace footnote::upkeep {
namespace {

class JobRunnerTest : public testing::Test {
 protected:
  Job add(std::string kind) {
    Job job{.id = {}, .workspace = {1}, .corpus = {}, .source = {}, .kind = std::move(kind), .input = "in"};
    return jobs_.enqueue({}, job, JobStore::Join::kNo).value();
  }
  Job read(JobId id) { return jobs_.job({}, {1}, id).value(); }
  /// Waits for a state; tests fail by their time limit, not by the clock.
  Job wait_for(JobId id, JobState state) {
    while (read(id).state != state) std::this_thread::sleep_for(std::chrono::milliseconds{2});
    return read(id);
  }
  JobRunner runner(JobRunner::Handlers handlers, std::size_t workers = 2) {
    return {jobs_,
            clock_,
            metrics_,
            std::move(handlers),
            {.workers = workers, .beat = std::chrono::milliseconds{5}, .poll = std::chrono::milliseconds{5}, .note_every = {}}};
  }

  SystemClock clock_;
  Metrics metrics_;
  fakes::MemoryJobStore jobs_{clock_};
};

TEST_F(JobRunnerTest, AJobRunsToItsEnd) {
  auto work = runner({{"sync", [&](const CallContext&, const Job& job, const JobRunner::Report& report) -> Result<JobProgress> {
                         EXPECT_EQ(job.input, "in");
                         FOOTNOTE_CHECK(report({.done = 1, .total = 2}));
                         EXPECT_EQ(read(job.id).progress.done, 1);
                         return JobProgress{.done = 2, .total = 2, .added = 7};
                       }}});
  const Job made = add("sync");
  EXPECT_TRUE(work.run_one({}, "w").value());
  EXPECT_EQ(read(made.id).state, JobState::kDone);
  EXPECT_EQ(read(made.id).progress.added, 7);
  EXPECT_FALSE(work.run_one({}, "w").value());
}

TEST_F(JobRunnerTest, WhatIsOutOfReachIsTriedLater) {
  auto work = runner({{"sync", [](const CallContext&, const Job&, const JobRunner::Report&) -> Result<JobProgress> {
                         return fail(ErrorCode::kUnavailable, "the embedder is down");
                       }}});
  const Job made = add("sync");
  ASSERT_TRUE(work.run_one({}, "w").value());
  EXPECT_EQ(read(made.id).state, JobState::kQueued);
  EXPECT_EQ(read(made.id).error, "the embedder is down");
  EXPECT_GT(read(made.id).due_at, clock_.now());
  EXPECT_FALSE(work.run_one({}, "w").value()) << "not at once";
  EXPECT_EQ(job_retry_wait(1), std::chrono::seconds{5});
  EXPECT_EQ(job_retry_wait(100), std::chrono::seconds{600});
}

TEST_F(JobRunnerTest, WhatIsWrongFails) {
  auto work = runner({{"sync", [](const CallContext&, const Job&, const JobRunner::Report&) -> Result<JobProgress> {
                         Error error{.code = ErrorCode::kInvalidArgument, .message = "/srv/x is gone", .field = ""};
                         error.public_message = "the folder is gone";
                         return std::unexpected(error);
                       }}});
  const Job made = add("sync");
  const Job unknown = add("dance");
  ASSERT_TRUE(work.run_one({}, "w").value());
  ASSERT_TRUE(work.run_one({}, "w").value());
  EXPECT_EQ(read(made.id).state, JobState::kFailed);
  EXPECT_EQ(read(made.id).error, "the folder is gone") << "no path of the operator's";
  EXPECT_EQ(read(unknown.id).state, JobState::kFailed);
}

TEST_F(JobRunnerTest, ASilentJobIsCancelled) {
  auto work = runner({{"sync", [](const CallContext& call, const Job&, const JobRunner::Report&) -> Result<JobProgress> {
                         while (!call.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
                         return fail(ErrorCode::kCancelled, "stopped");
                       }}});
  const Job made = add("sync");
  work.start();
  wait_for(made.id, JobState::kRunning);
  ASSERT_TRUE(jobs_.cancel({}, {1}, made.id).has_value());
  wait_for(made.id, JobState::kCancelled);
}

TEST_F(JobRunnerTest, StoppingPutsJobsBack) {
  std::latch begun(1);
  auto work = runner({{"sync", [&](const CallContext& call, const Job&, const JobRunner::Report&) -> Result<JobProgress> {
                         begun.count_down();
                         while (!call.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
                         return fail(ErrorCode::kCancelled, "stopped");
                       }}});
  const Job made = add("sync");
  work.start();
  begun.wait();
  work.stop();
  EXPECT_EQ(read(made.id).state, JobState::kQueued);
}

TEST_F(JobRunnerTest, WorkersAreBounded) {
  std::atomic<int> at_once{0};
  std::atomic<int> most{0};
  auto work = runner({{"sync",
                       [&](const CallContext&, const Job&, const JobRunner::Report&) -> Result<JobProgress> {
                         const int now = ++at_once;
                         int seen = most;
                         while (now > seen && !most.compare_exchange_weak(seen, now)) {
                         }
                         std::this_thread::sleep_for(std::chrono::milliseconds{2});
                         --at_once;
                         return JobProgress{};
                       }}},
                     2);
  std::vector<Job> all;
  for (int i = 0; i < 20; ++i) all.push_back(add("sync"));
  work.start();
  work.wake();
  for (const Job& job : all) wait_for(job.id, JobState::kDone);
  EXPECT_LE(most, 2);
}

TEST_F(JobRunnerTest, JobsOfAProcessThatIsGoneAreBegunAgain) {
  const Job made = add("sync");
  ASSERT_TRUE(jobs_.take({}, "local/1", clock_.now(), clock_.now() + std::chrono::hours{1}).has_value());
  auto work =
      runner({{"sync", [](const CallContext&, const Job&, const JobRunner::Report&) -> Result<JobProgress> { return JobProgress{}; }}});
  work.start();
  EXPECT_EQ(wait_for(made.id, JobState::kDone).attempts, 2);
}

}  // namespace
}  // namespace footnote::upkeep
