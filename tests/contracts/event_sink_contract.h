#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/catalog_store.h"
#include "ports/event_sink.h"

/// What every EventSink must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, EventSinkContract, ::testing::Values(EventSinkCase{"sqlite", make}), event_sink_case_name);
namespace footnote::contract {

class EventSinkHarness {
 public:
  virtual ~EventSinkHarness() = default;
  virtual EventSink& sink() = 0;
  virtual CatalogStore& catalog() = 0;
  /// All events of a corpus, oldest first.
  virtual std::vector<Event> events(WorkspaceId workspace, CorpusId corpus) = 0;
};

struct EventSinkCase {
  std::string name;
  std::function<std::unique_ptr<EventSinkHarness>()> make;
};

inline std::string event_sink_case_name(const ::testing::TestParamInfo<EventSinkCase>& info) { return info.param.name; }

class EventSinkContract : public ::testing::TestWithParam<EventSinkCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = harness_->catalog().ensure_corpus(call_, workspace_, "memory", {"model-a", 8}).value().id;
  }
  Event event(std::string type) const {
    return {.workspace = workspace_,
            .corpus = corpus_,
            .type = std::move(type),
            .payload = R"({"n":1})",
            .happened_at = UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  }

  const CallContext call_;
  std::unique_ptr<EventSinkHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  CorpusId corpus_;
};

TEST_P(EventSinkContract, KeepsEventsInOrderUnderGrowingIds) {
  for (const char* type : {"generation_published", "document_failed", "generation_published"}) {
    ASSERT_TRUE(harness_->sink().append(call_, event(type)).has_value());
  }
  const auto events = harness_->events(workspace_, corpus_);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].type, "generation_published");
  EXPECT_EQ(events[1].type, "document_failed");
  EXPECT_EQ(events[1].payload, R"({"n":1})");
  EXPECT_EQ(events[1].happened_at, event("").happened_at);
  EXPECT_LT(events[0].id, events[1].id);
  EXPECT_LT(events[1].id, events[2].id);
}

TEST_P(EventSinkContract, AnEventOfACorpusThatIsNotInTheWorkspaceIsRefused) {
  Event stray = event("generation_published");
  stray.corpus = CorpusId{987654};
  EXPECT_EQ(harness_->sink().append(call_, stray).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(harness_->events(workspace_, corpus_).empty());
}

TEST_P(EventSinkContract, ACallThatIsOverAppendsNothing) {
  EXPECT_EQ(harness_->sink().append(stopped_call(), event("x")).error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(harness_->sink().append(late, event("x")).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(harness_->events(workspace_, corpus_).empty());
}

TEST_P(EventSinkContract, EventsOfSeveralThreadsAllArriveEachThreadsInOrder) {
  constexpr int kThreads = 4, kEach = 25;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, i] {
        for (int n = 0; n < kEach; ++n) {
          Event next = event("thread_" + std::to_string(i));
          next.payload = std::to_string(n);
          EXPECT_TRUE(harness_->sink().append(call_, next).has_value());
        }
      });
    }
  }
  std::map<std::string, int> seen;
  EventId last;
  for (const Event& stored : harness_->events(workspace_, corpus_)) {
    EXPECT_EQ(stored.payload, std::to_string(seen[stored.type]++));
    EXPECT_LT(last, stored.id);
    last = stored.id;
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kThreads));
  for (const auto& [type, count] : seen) EXPECT_EQ(count, kEach) << type;
}

}  // namespace footnote::contract
