#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/catalog_store.h"
#include "ports/job_store.h"

/// What every JobStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, JobStoreContract, ::testing::Values(JobStoreCase{"sqlite", make}), job_store_case_name);
namespace footnote::contract {

/// A store, empty, with what the suite needs around it.
class JobStoreHarness {
 public:
  virtual ~JobStoreHarness() = default;
  virtual JobStore& jobs() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  /// A workspace beside the default one.
  virtual WorkspaceId other_workspace() = 0;
};

struct JobStoreCase {
  std::string name;
  std::function<std::unique_ptr<JobStoreHarness>()> make;
};

inline std::string job_store_case_name(const ::testing::TestParamInfo<JobStoreCase>& info) { return info.param.name; }

class JobStoreContract : public ::testing::TestWithParam<JobStoreCase> {
 protected:
  static constexpr std::chrono::seconds kLease{30};

  void SetUp() override { workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id; }

  JobStore& store() { return harness_->jobs(); }
  UtcTime now() { return harness_->clock().now(); }
  void wait(std::chrono::milliseconds time) { harness_->clock().advance(time); }
  Job wanted(std::int64_t source = 0, std::string kind = "sync") {
    return {.id = {}, .workspace = workspace_, .corpus = {}, .source = {source}, .kind = std::move(kind), .input = ""};
  }
  Job add(std::int64_t source = 0, JobStore::Join join = JobStore::Join::kNo) {
    return store().enqueue(call_, wanted(source), join).value();
  }
  std::optional<Job> take(std::string_view worker = "w1") { return store().take(call_, worker, now(), now() + kLease).value(); }
  Job read(JobId id) { return store().job(call_, workspace_, id).value(); }

  const CallContext call_;
  std::unique_ptr<JobStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
};

TEST_P(JobStoreContract, AJobComesBackAsItWasQueued) {
  Job job = wanted(7, "upload");
  job.input = R"({"file":"a"})";
  const Job made = store().enqueue(call_, job, JobStore::Join::kNo).value();
  const Job found = read(made.id);
  EXPECT_EQ(found.kind, "upload");
  EXPECT_EQ(found.source, SourceId{7});
  EXPECT_EQ(found.input, job.input);
  EXPECT_EQ(found.state, JobState::kQueued);
  EXPECT_EQ(found.created_at, now());
  EXPECT_EQ(found.attempts, 0);
  EXPECT_FALSE(found.started_at || found.finished_at);
  EXPECT_EQ(store().last_job(call_, {7}).value()->id, made.id);
  EXPECT_EQ(store().last_job(call_, {8}).value(), std::nullopt);
}

TEST_P(JobStoreContract, EachIsTakenOnceInOrder) {
  const Job first = add();
  const Job second = add();
  EXPECT_EQ(take("w1")->id, first.id);
  EXPECT_EQ(take("w2")->id, second.id);
  EXPECT_EQ(take("w3"), std::nullopt);
  EXPECT_EQ(read(first.id).state, JobState::kRunning);
  EXPECT_EQ(read(first.id).started_at, now());
}

TEST_P(JobStoreContract, ManyWorkersTakeEachOnce) {
  constexpr int kJobs = 60;
  for (int i = 0; i < kJobs; ++i) add();
  std::vector<std::vector<std::int64_t>> taken(4);
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      workers.emplace_back([&, i] {
        const std::string name = "w" + std::to_string(i);
        while (const auto job = take(name)) taken[i].push_back(job->id.value);
      });
    }
  }
  std::multiset<std::int64_t> all;
  for (const auto& some : taken) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kJobs));
  EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), static_cast<std::size_t>(kJobs));
}

TEST_P(JobStoreContract, ASourceHasOneRunningJob) {
  const Job first = add(5);
  add(5);
  const Job other = add(6);
  EXPECT_EQ(take()->id, first.id);
  EXPECT_EQ(take()->id, other.id) << "the second of source 5 waits";
  EXPECT_EQ(take(), std::nullopt);
  ASSERT_TRUE(store().finish(call_, first.id, "w1", JobState::kDone, {}, "").has_value());
  EXPECT_EQ(take()->source, SourceId{5});
}

TEST_P(JobStoreContract, AWaitingJobIsJoined) {
  const Job first = add(5);
  EXPECT_EQ(add(5, JobStore::Join::kWaiting).id, first.id);
  EXPECT_NE(add(6, JobStore::Join::kWaiting).id, first.id);
  EXPECT_NE(store().enqueue(call_, wanted(5, "drift"), JobStore::Join::kWaiting)->id, first.id);
  ASSERT_TRUE(take().has_value());
  EXPECT_NE(add(5, JobStore::Join::kWaiting).id, first.id) << "a running one may have passed the change already";
}

TEST_P(JobStoreContract, ProgressAndEndAreKept) {
  const Job made = add();
  ASSERT_TRUE(take().has_value());
  JobProgress progress{.done = 10, .total = 40, .added = 1, .updated = 2, .unchanged = 3, .deleted = 4};
  progress.add_error("a.pdf", "no text");
  progress.eta_seconds = 12;
  ASSERT_TRUE(store().note(call_, made.id, "w1", progress, now() + kLease).has_value());
  EXPECT_EQ(read(made.id).progress, progress);
  EXPECT_EQ(store().note(call_, made.id, "w2", progress, now() + kLease).error().code, ErrorCode::kFailedPrecondition);
  progress.done = 40;
  wait(std::chrono::seconds{1});
  ASSERT_TRUE(store().finish(call_, made.id, "w1", JobState::kDone, progress, "").has_value());
  EXPECT_EQ(read(made.id).state, JobState::kDone);
  EXPECT_EQ(read(made.id).progress.done, 40);
  EXPECT_EQ(read(made.id).finished_at, now());
  EXPECT_EQ(store().finish(call_, made.id, "w1", JobState::kDone, progress, "").error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(take(), std::nullopt);
}

TEST_P(JobStoreContract, ALostJobIsTakenAgain) {
  const Job made = add();
  ASSERT_TRUE(take("old/1").has_value());
  EXPECT_EQ(take("new/1"), std::nullopt);
  wait(kLease);
  EXPECT_EQ(take("new/1")->id, made.id);
  EXPECT_EQ(read(made.id).attempts, 2);
  EXPECT_EQ(store().note(call_, made.id, "old/1", {}, now() + kLease).error().code, ErrorCode::kFailedPrecondition);
  ASSERT_TRUE(store().abandon(call_, "other/").has_value());
  EXPECT_EQ(take("third/1"), std::nullopt);
  ASSERT_TRUE(store().abandon(call_, "new/").has_value());
  EXPECT_EQ(take("third/1")->id, made.id) << "without waiting for the lease: its process is gone";
}

TEST_P(JobStoreContract, AJobThatNeverEndsFails) {
  const Job made = add();
  for (int i = 0; i < kJobAttemptsMax; ++i) {
    ASSERT_TRUE(take().has_value()) << i;
    wait(kLease);
  }
  EXPECT_EQ(take(), std::nullopt);
  EXPECT_EQ(read(made.id).state, JobState::kFailed);
  EXPECT_FALSE(read(made.id).error.empty());
}

TEST_P(JobStoreContract, AnotherTryComesLater) {
  const Job made = add();
  ASSERT_TRUE(take().has_value());
  ASSERT_TRUE(store().postpone(call_, made.id, "w1", {.done = 3}, "the embedder is down", now() + std::chrono::seconds{10}).has_value());
  EXPECT_EQ(read(made.id).state, JobState::kQueued);
  EXPECT_EQ(read(made.id).error, "the embedder is down");
  EXPECT_EQ(take(), std::nullopt);
  wait(std::chrono::seconds{10});
  const auto again = take();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->attempts, 2);
  EXPECT_EQ(again->error, "");
}

TEST_P(JobStoreContract, CancellingEndsAJob) {
  const Job waiting = add();
  EXPECT_EQ(store().cancel(call_, workspace_, waiting.id)->state, JobState::kCancelled);
  EXPECT_EQ(take(), std::nullopt);
  const Job running = add();
  ASSERT_TRUE(take().has_value());
  EXPECT_EQ(store().cancel(call_, workspace_, running.id)->state, JobState::kRunning) << "until its worker notices";
  EXPECT_EQ(store().note(call_, running.id, "w1", {}, now() + kLease).error().code, ErrorCode::kCancelled);
  ASSERT_TRUE(store().finish(call_, running.id, "w1", JobState::kDone, {}, "").has_value());
  EXPECT_EQ(read(running.id).state, JobState::kCancelled);
  EXPECT_EQ(store().cancel(call_, workspace_, running.id)->state, JobState::kCancelled) << "what ended stays as it is";
  const Job lost = add();
  ASSERT_TRUE(take().has_value());
  wait(kLease);
  EXPECT_EQ(store().cancel(call_, workspace_, lost.id)->state, JobState::kCancelled) << "nobody works on it";
}

TEST_P(JobStoreContract, TheQueueHasABound) {
  for (std::size_t i = 0; i < kJobsWaitingMax; ++i) add();
  EXPECT_EQ(store().enqueue(call_, wanted(), JobStore::Join::kNo).error().code, ErrorCode::kResourceExhausted);
  Job long_input = wanted();
  long_input.workspace = harness_->other_workspace();
  long_input.input.assign(kJobInputBytesMax + 1, 'x');
  EXPECT_EQ(store().enqueue(call_, long_input, JobStore::Join::kNo).error().code, ErrorCode::kInvalidArgument);
  long_input.input.pop_back();
  EXPECT_TRUE(store().enqueue(call_, long_input, JobStore::Join::kNo).has_value());
}

TEST_P(JobStoreContract, OldOnesAreForgotten) {
  JobId first;
  for (std::size_t i = 0; i <= kJobsKeptMax; ++i) {
    const Job made = add();
    if (i == 0) first = made.id;
    ASSERT_TRUE(take().has_value());
    ASSERT_TRUE(store().finish(call_, made.id, "w1", JobState::kDone, {}, "").has_value());
  }
  EXPECT_EQ(store().job(call_, workspace_, first).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().jobs(call_, workspace_, {}, kJobsKeptMax * 2)->size(), kJobsKeptMax);
}

TEST_P(JobStoreContract, TheyAreListedNewestFirst) {
  const Job a = add();
  const Job b = add();
  const Job c = add();
  const auto ids = [&](JobId before, std::size_t limit) {
    std::vector<JobId> out;
    const auto listed = store().jobs(call_, workspace_, before, limit).value();
    for (const Job& job : listed) out.push_back(job.id);
    return out;
  };
  EXPECT_THAT(ids({}, 2), ::testing::ElementsAre(c.id, b.id));
  EXPECT_THAT(ids(b.id, 2), ::testing::ElementsAre(a.id));
}

TEST_P(JobStoreContract, AnotherWorkspacesJobIsNotThere) {
  const Job made = add();
  const WorkspaceId other = harness_->other_workspace();
  EXPECT_EQ(store().job(call_, other, made.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().cancel(call_, other, made.id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().jobs(call_, other, {}, 10)->empty());
}

TEST_P(JobStoreContract, AStoppedCallQueuesNothing) {
  EXPECT_EQ(store().enqueue(stopped_call(), wanted(), JobStore::Join::kNo).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(take(), std::nullopt);
}

}  // namespace footnote::contract
