#include "answer/relayed_turn.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "fakes/memory_store.h"

namespace footnote::answer {
namespace {

using namespace std::chrono_literals;

/// Counts the pieces it receives.
class Listening final : public EventSink {
 public:
  Result<void> append(const CallContext&, const Event&) override { return {}; }
  void token_streamed(const TokenStreamed&) noexcept override { ++tokens; }
  void turn_completed(const TurnCompleted&) noexcept override { ++turns; }
  int tokens = 0;
  std::atomic<int> turns = 0;
};

class RelayedTurnTest : public ::testing::Test {
 protected:
  static Hit hit(std::int64_t id, std::string text) {
    Hit out;
    out.chunk.id = {id};
    out.chunk.document = {id};
    out.chunk.text = std::move(text);
    out.chunk.range = {0, out.chunk.text.size()};
    out.document_key = fmt::format("page{}.md", id);
    return out;
  }
  RelayedQuestion question() const {
    RelayedQuestion out{.workspace = corpus_.workspace, .corpus = corpus_.id, .text = "How long is shipping?"};
    out.retrieval.generation = 1;
    out.retrieval.candidates = 3;
    out.retrieval.gate = {.grounded = true, .evidence = 1, .threshold = 0.5, .confidence = 0.8};
    out.retrieval.hits = {hit(1, "Shipping takes three days."), hit(2, "Tea is green."), hit(3, "Returns are free.")};
    out.given = {0, 2};
    return out;
  }
  std::unique_ptr<RelayedTurn> begin(bool stored = true) {
    turns_.reset();
    turns_ = std::make_unique<RelayedTurns>(
        RelayedTurns::Ports{.conversations = store_, .clock = clock_, .metrics = &metrics_, .events = &events_, .stored = stored});
    return turns_->begin({.request_id = "req-1"}, question(), std::chrono::steady_clock::now());
  }
  void wait() { ASSERT_TRUE(turns_->wait_until_idle(std::chrono::steady_clock::now() + 30s)); }
  Result<Turn> stored(std::string_view id) {
    wait();
    return store_.turn({}, corpus_.workspace, {std::string(id)});
  }
  Json trace(std::string_view id) { return parse_json(store_.trace({}, corpus_.workspace, {std::string(id)}).value()).value(); }

  ManualClock clock_{UtcTime(std::chrono::hours(24 * 365 * 50))};
  fakes::MemoryStore store_{clock_};
  Metrics metrics_;
  Listening events_;
  Corpus corpus_ = store_.ensure_corpus({}, store_.add_workspace({}, "w").value().id, "docs", {"m", 3}).value();
  std::unique_ptr<RelayedTurns> turns_;
};

TEST_F(RelayedTurnTest, IsStoredWithItsCitationsAndTrace) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->on_prompt(2, 900);
  turn->on_text("Shipping takes three ");
  turn->on_text("days [1]. More [7].");
  const std::size_t writes = store_.writes();
  EXPECT_EQ(writes, 0u) << "nothing is written before the last token";
  turn->finish({.model = "phi3", .finish = FinishReason::kStop, .tokens = TokenCounts{7, 3}});
  const Turn kept = stored(id).value();
  EXPECT_EQ(kept.question, "How long is shipping?");
  EXPECT_EQ(kept.state, TurnState::kComplete);
  const auto& answer = std::get<Answer>(kept.outcome);
  EXPECT_EQ(answer.text, "Shipping takes three days [1]. More [7].");
  EXPECT_EQ(answer.model, "phi3");
  EXPECT_EQ(answer.confidence, 0.8);
  ASSERT_EQ(answer.sources.size(), 2u);
  EXPECT_EQ(answer.sources[1].hit.document_key, "page3.md");
  ASSERT_EQ(answer.citations.size(), 1u) << "a number that no source has is no citation";
  EXPECT_EQ(answer.citations[0].chunk, ChunkId{1});
  EXPECT_EQ(answer.citations[0].support_range, (TextRange{0, 26}));
  const Json kept_trace = trace(id);
  EXPECT_EQ(kept_trace.at("request_id"), "req-1");
  EXPECT_EQ(kept_trace.at("model").at("name"), "phi3");
  EXPECT_EQ(kept_trace.at("model").at("completion_tokens"), 3);
  EXPECT_TRUE(kept_trace.at("candidates").at(0).at("cut").is_null()) << "cited";
  EXPECT_EQ(kept_trace.at("candidates").at(1).at("cut").at("reason"), "not_picked");
  EXPECT_EQ(kept_trace.at("candidates").at(2).at("cut").at("reason"), "not_cited");
  EXPECT_EQ(events_.tokens, 2);
  EXPECT_EQ(events_.turns, 1);
}

TEST_F(RelayedTurnTest, TokensThatNobodyCountedAreNotKnown) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->on_text("x");
  turn->finish({.model = "phi3"});
  ASSERT_TRUE(stored(id));
  EXPECT_TRUE(trace(id).at("model").at("prompt_tokens").is_null());
}

TEST_F(RelayedTurnTest, ARefusalLeavesAGap) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->refuse(RefusalReason::kNoRelevantContext, "Not in here.");
  EXPECT_EQ(turn->id(), id) << "who is told of the refusal is told its id";
  const Turn kept = stored(id).value();
  const auto& refusal = std::get<Refusal>(kept.outcome);
  EXPECT_EQ(refusal.text, "Not in here.");
  EXPECT_EQ(refusal.nearest.size(), 2u);
  const auto gaps = store_.gaps({}, corpus_.id, 10).value();
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].question, "How long is shipping?");
}

TEST_F(RelayedTurnTest, WhatHadComeBeforeAFailureIsPartial) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->on_text("Shipping");
  turn->fail({ErrorCode::kCancelled, "the client left", {}});
  turn->finish({.model = "late"});
  const Turn kept = stored(id).value();
  EXPECT_EQ(kept.state, TurnState::kPartial);
  EXPECT_EQ(std::get<Answer>(kept.outcome).text, "Shipping");
  EXPECT_EQ(trace(id).at("errors").at(0).at("code"), "cancelled");
}

TEST_F(RelayedTurnTest, GivenUpItCountsAsCancelled) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->on_text("Shipping");
  turn.reset();
  EXPECT_EQ(stored(id)->state, TurnState::kPartial);
}

TEST_F(RelayedTurnTest, WithoutAnyTextNothingIsStored) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->fail({ErrorCode::kUnavailable, "away", {}});
  EXPECT_EQ(stored(id).error().code, ErrorCode::kNotFound);
}

TEST_F(RelayedTurnTest, ALongAnswerIsKeptUpToItsBound) {
  auto turn = begin();
  const std::string id(turn->id());
  turn->on_text(std::string(kRelayedTextBytesMax - 1, 'x'));
  turn->on_text("\u00e4y");
  turn->on_text("z");
  turn->finish({.model = "m"});
  EXPECT_EQ(std::get<Answer>(stored(id)->outcome).text, std::string(kRelayedTextBytesMax - 1, 'x')) << "no half character, nothing after";
  EXPECT_EQ(trace(id).at("errors").at(0).at("code"), "too_large");
  turn = begin();
  const std::string whole(turn->id());
  turn->on_text(std::string(kRelayedTextBytesMax, 'x'));
  turn->finish({.model = "m"});
  EXPECT_EQ(std::get<Answer>(stored(whole)->outcome).text.size(), kRelayedTextBytesMax);
  EXPECT_TRUE(trace(whole).at("errors").as_array().empty());
}

TEST_F(RelayedTurnTest, SwitchedOffNothingIsStored) {
  auto turn = begin(false);
  EXPECT_EQ(turn->id(), "");
  turn->on_text("x");
  turn->finish({.model = "m"});
  turn.reset();
  wait();
  EXPECT_EQ(store_.writes(), 0u);
}

}  // namespace
}  // namespace footnote::answer
