#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/catalog_store.h"
#include "ports/conversation_store.h"

/// What every ConversationStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, ConversationStoreContract, ::testing::Values(ConversationStoreCase{"sqlite", make}),
///                            conversation_store_case_name);
namespace footnote::contract {

/// An empty store, and what the suite needs around it.
class ConversationStoreHarness {
 public:
  virtual ~ConversationStoreHarness() = default;
  virtual ConversationStore& conversations() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  /// A second workspace.
  virtual WorkspaceId other_workspace() = 0;
  /// All events of a corpus, oldest first.
  virtual std::vector<Event> events(WorkspaceId workspace, CorpusId corpus) = 0;
};

struct ConversationStoreCase {
  std::string name;
  std::function<std::unique_ptr<ConversationStoreHarness>()> make;
};

inline std::string conversation_store_case_name(const ::testing::TestParamInfo<ConversationStoreCase>& info) { return info.param.name; }

class ConversationStoreContract : public ::testing::TestWithParam<ConversationStoreCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = corpus_of(workspace_, "memory");
  }

  CorpusId corpus_of(WorkspaceId workspace, std::string_view name) {
    return harness_->catalog().ensure_corpus(call_, workspace, name, {"model-a", 8}).value().id;
  }
  ConversationStore& store() { return harness_->conversations(); }

  Turn turn(std::string id, std::string question, Outcome outcome) {
    return {.id = {std::move(id)},
            .workspace = workspace_,
            .corpus = corpus_,
            .question = std::move(question),
            .outcome = std::move(outcome),
            .asked_at = harness_->clock().now()};
  }
  void finish(const Turn& turn, std::int64_t prompt_tokens = 0, std::int64_t completion_tokens = 0, std::string_view trace = {}) {
    const auto done = store().finish_turn(call_, turn, prompt_tokens, completion_tokens, trace);
    EXPECT_TRUE(done.has_value()) << done.error().message;
  }
  void refuse(std::string question, RefusalReason reason = RefusalReason::kNoRelevantContext) {
    finish(turn("turn_" + std::to_string(++turns_), std::move(question), Refusal{.reason = reason, .text = "no"}));
  }
  /// "question xN" of every gap, in order.
  std::vector<std::string> gaps(std::size_t limit = 100) {
    std::vector<std::string> out;
    const auto found = store().gaps(call_, corpus_, limit).value();
    for (const Gap& gap : found) out.push_back(gap.question + " x" + std::to_string(gap.occurrences));
    return out;
  }
  std::vector<std::string> history(const ConversationId& id, std::size_t limit) {
    std::vector<std::string> out;
    const auto turns = store().history(call_, workspace_, id, limit).value();
    for (const Turn& stored : turns) out.push_back(stored.question);
    return out;
  }

  const CallContext call_;
  std::unique_ptr<ConversationStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  CorpusId corpus_;
  int turns_ = 0;
};

/// An answer with one source and one citation; every field is filled.
inline Answer full_answer() {
  SourceBlock block;
  block.number = 1;
  block.hit.chunk = {.id = {31},
                     .document = {41},
                     .document_version = 2,
                     .ordinal = 3,
                     .text = "Shipping takes three days.",
                     .heading_path = {"Shop", "Times"},
                     .source_type = "doc",
                     .content_hash = "h",
                     .range = {100, 126},
                     .first_line = 7,
                     .last_line = 8,
                     .places = {PlaceUnit::kSlide, {{0, 7}, {2, 8}}},
                     .born = 5};
  block.hit.document_key = "shop/\"shipping\".md";
  block.hit.document.title = "Shipping \xE2\x82\xAC";
  block.hit.terms = {{Stage::kVector, 0.1, 1, 0.55}, {Stage::kKeyword, 7.25, 0.5, 0.25}};
  block.hit.score = 0.675;
  block.hit.cosine = 0.1;
  block.hit.coverage = 0.75;
  const Citation citation{.number = 1,
                          .document = {41},
                          .document_version = 2,
                          .chunk = {31},
                          .answer_range = {0, 10},
                          .support_range = TextRange{100, 126},
                          .support = Support::kSupported};
  return {.text = "Three days [1].\n", .sources = {block}, .citations = {citation}, .confidence = 0.8125, .model = "m"};
}

TEST_P(ConversationStoreContract, ATurnComesBackAsItWasStored) {
  Turn stored = turn("turn_a", "How long?\n\xE2\x82\xAC", full_answer());
  stored.conversation = {"conv_a"};
  stored.state = TurnState::kPartial;
  stored.generation = 9;
  stored.latency = std::chrono::milliseconds{1234};
  finish(stored);
  const auto found = store().turn(call_, workspace_, {"turn_a"});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->corpus, corpus_);
  EXPECT_EQ(found->conversation, stored.conversation);
  EXPECT_EQ(found->question, stored.question);
  EXPECT_EQ(found->state, TurnState::kPartial);
  EXPECT_EQ(found->generation, 9);
  EXPECT_EQ(found->latency, stored.latency);
  EXPECT_EQ(found->asked_at, stored.asked_at);
  const auto* answer = std::get_if<Answer>(&found->outcome);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->text, full_answer().text);
  EXPECT_EQ(answer->model, "m");
  EXPECT_EQ(answer->confidence, 0.8125);
  ASSERT_EQ(answer->citations.size(), 1U);
  EXPECT_EQ(answer->citations[0].support_range, (TextRange{100, 126}));
  EXPECT_EQ(answer->citations[0].answer_range, (TextRange{0, 10}));
  EXPECT_EQ(answer->citations[0].support, Support::kSupported);
  EXPECT_EQ(answer->citations[0].chunk, ChunkId{31});
  ASSERT_EQ(answer->sources.size(), 1U);
  const Hit& hit = answer->sources[0].hit;
  EXPECT_EQ(hit.document_key, full_answer().sources[0].hit.document_key);
  EXPECT_EQ(hit.chunk.text, "Shipping takes three days.");
  EXPECT_EQ(hit.chunk.heading_path, (std::vector<std::string>{"Shop", "Times"}));
  EXPECT_EQ(hit.chunk.range, (TextRange{100, 126}));
  EXPECT_EQ(hit.terms.size(), 2U);
  EXPECT_EQ(hit.cosine, 0.1);
}

TEST_P(ConversationStoreContract, RefusalsAndQuestionsBackComeBackToo) {
  finish(turn("turn_a", "q", Refusal{.reason = RefusalReason::kLlmSelfRefusal, .text = "no", .nearest = full_answer().sources}));
  finish(turn("turn_b", "q", Clarification{"Which one?"}));
  const Turn refused = store().turn(call_, workspace_, {"turn_a"}).value(), back = store().turn(call_, workspace_, {"turn_b"}).value();
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused.outcome));
  EXPECT_EQ(std::get<Refusal>(refused.outcome).reason, RefusalReason::kLlmSelfRefusal);
  EXPECT_EQ(std::get<Refusal>(refused.outcome).nearest.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<Clarification>(back.outcome));
  EXPECT_EQ(std::get<Clarification>(back.outcome).text, "Which one?");
}

TEST_P(ConversationStoreContract, ATraceComesBackByteByByte) {
  const std::string trace = "{\"version\":1,\"title\":\"\xE2\x82\xAC \\u0000 '\"}";
  finish(turn("turn_a", "q", Answer{.text = "x"}), 0, 0, trace);
  finish(turn("turn_b", "q", Refusal{}), 0, 0, "{}");
  finish(turn("turn_c", "q", Refusal{}));
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_a"}).value(), trace);
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_b"}).value(), "{}");
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_c"}).error().code, ErrorCode::kNotFound) << "it has none";
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_d"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().trace(call_, harness_->other_workspace(), {"turn_a"}).error().code, ErrorCode::kNotFound);
}

TEST_P(ConversationStoreContract, ATracePastItsBoundIsRefusedWithItsTurn) {
  const std::string longest(kTurnTraceBytesMax, 'x');
  finish(turn("turn_a", "q", Refusal{}), 0, 0, longest);
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_a"}).value(), longest);
  EXPECT_EQ(store().finish_turn(call_, turn("turn_b", "q", Refusal{}), 0, 0, longest + "x").error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(store().turn(call_, workspace_, {"turn_b"}).error().code, ErrorCode::kNotFound);
}

TEST_P(ConversationStoreContract, HistoryIsTheLastTurnsOldestFirst) {
  for (const char* question : {"one", "two", "three"}) {
    Turn next = turn(std::string("turn_") + question, question, Answer{.text = "x"});
    next.conversation = {"conv_a"};
    finish(next);  // in the same millisecond: ordered by when they were stored
  }
  finish(turn("turn_apart", "apart", Answer{.text = "x"}));
  EXPECT_THAT(history({"conv_a"}, 10), ::testing::ElementsAre("one", "two", "three"));
  EXPECT_THAT(history({"conv_a"}, 2), ::testing::ElementsAre("two", "three"));
  EXPECT_THAT(history({"conv_a"}, 0), ::testing::IsEmpty());
  EXPECT_EQ(store().history(call_, workspace_, {"conv_b"}, 5).error().code, ErrorCode::kNotFound);
}

TEST_P(ConversationStoreContract, ARefusalRollsUpItsGap) {
  refuse("Who painted it?");
  const UtcTime first = harness_->clock().now();
  harness_->clock().advance(std::chrono::hours{1});
  refuse("  who   PAINTED it ");
  refuse("Something else?");
  finish(turn("turn_ok", "Fine?", Answer{.text = "yes"}));
  EXPECT_THAT(gaps(), ::testing::ElementsAre("Who painted it? x2", "Something else? x1"));
  EXPECT_THAT(gaps(1), ::testing::ElementsAre("Who painted it? x2"));
  const Gap gap = store().gaps(call_, corpus_, 1).value().at(0);
  EXPECT_TRUE(gap.id);
  EXPECT_EQ(gap.workspace, workspace_);
  EXPECT_EQ(gap.corpus, corpus_);
  EXPECT_EQ(gap.reason, GapReason::kNoRelevantContext);
  EXPECT_EQ(gap.first_seen_at, first);
  EXPECT_EQ(gap.last_seen_at, harness_->clock().now());
}

TEST_P(ConversationStoreContract, GapsOfCorporaAreApart) {
  refuse("Who painted it?");
  const CorpusId other = corpus_of(workspace_, "other");
  EXPECT_TRUE(store().gaps(call_, other, 10)->empty());
  EXPECT_EQ(store().gaps(call_, CorpusId{987654}, 10).error().code, ErrorCode::kNotFound);
}

TEST_P(ConversationStoreContract, AResolvedGapReopensWhenItRecurs) {
  refuse("Who painted it?");
  refuse("Blocked?", RefusalReason::kBlockedByGuardrails);
  const Gap gap = store().gaps(call_, corpus_, 10)->at(0);
  EXPECT_EQ(store().resolve_gap(call_, workspace_, gap.id, harness_->clock().now())->resolved_at, harness_->clock().now());
  EXPECT_TRUE(gaps().empty()) << "what was blocked is no gap";
  GapQuery query{.workspace = workspace_};
  EXPECT_TRUE(store().content_gaps(call_, query)->empty());
  query.include_resolved = true;
  EXPECT_EQ(store().content_gaps(call_, query)->size(), 1U);
  refuse("who painted it");
  EXPECT_THAT(gaps(), ::testing::ElementsAre("Who painted it? x2"));
  EXPECT_EQ(store().gaps(call_, corpus_, 1)->at(0).resolved_at, std::nullopt);
  EXPECT_EQ(store().resolve_gap(call_, harness_->other_workspace(), gap.id, harness_->clock().now()).error().code, ErrorCode::kNotFound);
}

TEST_P(ConversationStoreContract, AReportedQuestionIsAGapOfItsOwnReason) {
  refuse("Who painted it?");
  const auto report = [&](CorpusId corpus) {
    return store().report_gap(call_, workspace_, corpus, "Who painted it?", GapReason::kReported, harness_->clock().now());
  };
  EXPECT_EQ(report(corpus_)->occurrences, 1);
  EXPECT_EQ(report(corpus_)->occurrences, 2);
  EXPECT_EQ(report(CorpusId{987654}).error().code, ErrorCode::kNotFound);
  const CorpusId other = corpus_of(workspace_, "other");
  EXPECT_EQ(report(other)->corpus, other);
  const auto count = [&](const GapQuery& query) { return store().content_gaps(call_, query)->size(); };
  EXPECT_EQ(count({.workspace = workspace_}), 3U);
  EXPECT_EQ(count({.workspace = workspace_, .reason = GapReason::kReported}), 2U);
  EXPECT_EQ(count({.workspace = workspace_, .corpora = {other}}), 1U);
  EXPECT_EQ(count({.workspace = workspace_, .limit = 1}), 1U);
  EXPECT_EQ(count({.workspace = harness_->other_workspace()}), 0U);
}

TEST_P(ConversationStoreContract, UsageCountsByDay) {
  finish(turn("turn_1", "a", Answer{.text = "x"}), 100, 20);
  finish(turn("turn_2", "b", Refusal{}), 50, 1);
  harness_->clock().advance(std::chrono::hours{48});
  finish(turn("turn_3", "c", Answer{.text = "x"}), 7, 7);
  const auto days = store().usage(call_, workspace_, 30).value();
  ASSERT_EQ(days.size(), 2U);
  EXPECT_EQ(days[0].questions, 2);
  EXPECT_EQ(days[0].answers, 1);
  EXPECT_EQ(days[0].refusals, 1);
  EXPECT_EQ(days[0].prompt_tokens, 150);
  EXPECT_EQ(days[0].completion_tokens, 21);
  EXPECT_LT(days[0].day, days[1].day);
  EXPECT_EQ(days[1].day, to_rfc3339(harness_->clock().now()).substr(0, 10));
  EXPECT_EQ(store().usage(call_, workspace_, 1)->size(), 1U) << "today alone";
}

TEST_P(ConversationStoreContract, WorkspacesDoNotSeeEachOther) {
  const WorkspaceId other = harness_->other_workspace();
  Turn mine = turn("turn_a", "q", Answer{.text = "x"});
  mine.conversation = {"conv_a"};
  finish(mine, 5, 5);
  EXPECT_EQ(store().turn(call_, other, {"turn_a"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().history(call_, other, {"conv_a"}, 5).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().usage(call_, other, 30)->empty());
  Turn foreign = turn("turn_b", "q", Answer{.text = "x"});
  foreign.workspace = other;  // its corpus is not in that workspace
  EXPECT_EQ(store().finish_turn(call_, foreign, 0, 0, "{}").error().code, ErrorCode::kNotFound);
}

TEST_P(ConversationStoreContract, ATurnsEndIsAnEventOfTheSameStep) {
  finish(turn("turn_a", "secret words", full_answer()));
  EXPECT_FALSE(store().finish_turn(call_, turn("turn_b", "b", full_answer()), 0, 0, std::string(kTurnTraceBytesMax + 1, 'x')).has_value());
  const auto events = harness_->events(workspace_, corpus_);
  ASSERT_EQ(events.size(), 1U) << "of a turn that is not stored there is no event";
  EXPECT_EQ(events[0].type, "turn.completed");
  EXPECT_EQ(events[0].payload, R"({"turn_id":"turn_a"})") << "its words are the turn's, and go with it";
}

TEST_P(ConversationStoreContract, AFailedFinishLeavesNothing) {
  finish(turn("turn_a", "q", Answer{.text = "x"}));
  EXPECT_EQ(store().finish_turn(call_, turn("turn_a", "gap?", Refusal{}), 9, 9, "{}").error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(store().finish_turn(stopped_call(), turn("turn_b", "gap?", Refusal{}), 9, 9, "{}").error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(store().finish_turn(late, turn("turn_b", "gap?", Refusal{}), 9, 9, "{}").error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(gaps().empty());
  EXPECT_EQ(store().usage(call_, workspace_, 1)->at(0).questions, 1);
  EXPECT_EQ(store().turn(call_, workspace_, {"turn_b"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_a"}).error().code, ErrorCode::kNotFound) << "the second one's trace is not the first's";
}

TEST_P(ConversationStoreContract, NothingIsLostBetweenThreads) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this, i] {
        for (int n = 0; n < 10; ++n) finish(turn("turn_" + std::to_string(i) + "_" + std::to_string(n), "Same?", Refusal{}), 1, 0);
      });
    }
  }
  EXPECT_THAT(gaps(), ::testing::ElementsAre("Same? x40"));
  EXPECT_EQ(store().usage(call_, workspace_, 1)->at(0).prompt_tokens, 40);
}

/// Turns of a site's visitors.
class VisitorTurnsContract : public ConversationStoreContract {
 protected:
  Turn visit(std::string id, std::string question, std::optional<GapReason> gap = {}) {
    Turn out = turn(std::move(id), std::move(question), Answer{.text = "x"});
    out.conversation = {"conv_" + visitor_.value};
    out.visit = Visit{.agent = agent_, .visitor = visitor_, .gap = gap};
    return out;
  }
  /// "question xN status" of every gap of the agent, in order.
  std::vector<std::string> agent_gaps(std::optional<GapStatus> status = {}, std::size_t limit = 100) {
    std::vector<std::string> out;
    const auto found = store().agent_gaps(call_, workspace_, agent_, status, limit).value();
    for (const AgentGap& gap : found) {
      out.push_back(gap.question + " x" + std::to_string(gap.occurrences) + " " + std::string(to_string(gap.status)));
    }
    return out;
  }
  GapId only_gap() { return store().agent_gaps(call_, workspace_, agent_, {}, 10).value().at(0).id; }
  std::vector<std::string> questions_of(const VisitorId& visitor) {
    std::vector<std::string> out;
    const auto turns = store().visitor_turns(call_, workspace_, visitor).value();
    for (const Turn& stored : turns) out.push_back(stored.question);
    return out;
  }
  Result<void> rate(std::string_view id, Rating rating, std::string reason = {}) {
    return store().rate_turn(call_, workspace_, visitor_, {std::string(id)}, {rating, std::move(reason)});
  }

  AgentId agent_{"agt_shop"};
  VisitorId visitor_{"vis_1"};
};

TEST_P(VisitorTurnsContract, AVisitComesBackAsItWasStored) {
  Turn stored = visit("turn_a", "q");
  stored.visit = Visit{.agent = agent_,
                       .visitor = visitor_,
                       .page_url = "https://shop.example/a\xE2\x82\xAC",
                       .curated = true,
                       .low_confidence = true,
                       .confidence = 0.3125,
                       .flags = {"one_source", "degraded"},
                       .gap = GapReason::kLowConfidence};
  finish(stored);
  finish(turn("turn_b", "q", Answer{.text = "x"}));
  const auto expect_same = [&](const Turn& read) {
    ASSERT_TRUE(read.visit.has_value());
    EXPECT_EQ(read.visit->agent, agent_);
    EXPECT_EQ(read.visit->visitor, visitor_);
    EXPECT_EQ(read.visit->page_url, stored.visit->page_url);
    EXPECT_TRUE(read.visit->curated);
    EXPECT_TRUE(read.visit->low_confidence);
    EXPECT_EQ(read.visit->confidence, 0.3125);
    EXPECT_EQ(read.visit->flags, stored.visit->flags);
    EXPECT_EQ(read.visit->gap, GapReason::kLowConfidence);
    EXPECT_FALSE(read.visit->playground);
    EXPECT_EQ(read.visit->feedback, std::nullopt);
  };
  expect_same(store().turn(call_, workspace_, {"turn_a"}).value());
  expect_same(store().history(call_, workspace_, stored.conversation, 5).value().at(0));
  expect_same(store().visitor_turns(call_, workspace_, visitor_).value().at(0));
  EXPECT_FALSE(store().turn(call_, workspace_, {"turn_b"})->visit.has_value());
}

TEST_P(VisitorTurnsContract, AnAgentsUsageCountsByDay) {
  finish(visit("turn_1", "a"), 100, 20);
  Turn curated = visit("turn_2", "b");
  curated.visit->curated = true;
  finish(curated);
  Turn refused = visit("turn_3", "c");
  refused.outcome = Refusal{};
  finish(refused, 7, 1);
  EXPECT_EQ(store().finish_turn(call_, visit("turn_3", "c"), 9, 9, {}).error().code, ErrorCode::kAlreadyExists) << "counted once";
  Turn elsewhere = visit("turn_4", "d");
  elsewhere.visit->agent = {"agt_other"};
  finish(elsewhere, 1, 1);
  harness_->clock().advance(std::chrono::hours{48});
  finish(visit("turn_5", "e"), 3, 3);
  const auto days = store().agent_usage(call_, workspace_, agent_, 30).value();
  ASSERT_EQ(days.size(), 2U);
  EXPECT_EQ(days[0].turns, 3);
  EXPECT_EQ(days[0].curated, 1);
  EXPECT_EQ(days[0].refused, 1);
  EXPECT_EQ(days[0].prompt_tokens, 107);
  EXPECT_EQ(days[0].completion_tokens, 21);
  EXPECT_EQ(days[1].turns, 1);
  EXPECT_EQ(store().agent_usage(call_, workspace_, agent_, 1)->size(), 1U) << "today alone";
  EXPECT_TRUE(store().agent_usage(call_, harness_->other_workspace(), agent_, 30)->empty());
  EXPECT_EQ(store().usage(call_, workspace_, 30).value().at(0).questions, 4) << "the workspace's day has them too";
}

TEST_P(VisitorTurnsContract, ThePlaygroundCountsNothing) {
  Turn tried = visit("turn_1", "Does it fly?", GapReason::kLowConfidence);
  tried.visit->playground = true;
  tried.outcome = Refusal{};
  finish(tried, 5, 5);
  ASSERT_TRUE(rate("turn_1", Rating::kDown).has_value());
  EXPECT_TRUE(store().turn(call_, workspace_, {"turn_1"})->visit->playground);
  EXPECT_TRUE(store().agent_usage(call_, workspace_, agent_, 1)->empty());
  EXPECT_TRUE(store().usage(call_, workspace_, 1)->empty());
  EXPECT_THAT(agent_gaps(), ::testing::IsEmpty());
  EXPECT_THAT(gaps(), ::testing::IsEmpty());
  EXPECT_THAT(harness_->events(workspace_, corpus_), ::testing::IsEmpty());
}

TEST_P(VisitorTurnsContract, TheVisitAloneDecidesOfItsGap) {
  Turn refused = visit("turn_1", "Refused, yet no gap?");
  refused.outcome = Refusal{};
  finish(refused);
  finish(visit("turn_2", "Answered, yet a gap?", GapReason::kFailurePhrase));
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Answered, yet a gap? x1 open"));
  EXPECT_EQ(store().agent_gap(call_, workspace_, only_gap())->reason, GapReason::kFailurePhrase);
  EXPECT_THAT(gaps(), ::testing::IsEmpty()) << "the corpus's own gaps are those of other doors";
}

TEST_P(VisitorTurnsContract, GapsAreRolledUpByTheirWords) {
  const UtcTime first = harness_->clock().now();
  finish(visit("turn_1", "Do you ship to the Café?", GapReason::kNoRelevantContext));
  harness_->clock().advance(std::chrono::hours{1});
  finish(visit("turn_2", "do you SHIP, to the cafe", GapReason::kLowConfidence));
  finish(visit("turn_3", "Something else?", GapReason::kLowConfidence));
  Turn elsewhere = visit("turn_4", "Something else?", GapReason::kLowConfidence);
  elsewhere.visit->agent = {"agt_other"};
  finish(elsewhere);
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Do you ship to the Café? x2 open", "Something else? x1 open"));
  EXPECT_THAT(agent_gaps({}, 1), ::testing::SizeIs(1));
  const AgentGap gap = store().agent_gap(call_, workspace_, only_gap()).value();
  EXPECT_EQ(gap.reason, GapReason::kLowConfidence) << "the last one";
  EXPECT_EQ(gap.first_seen_at, first);
  EXPECT_EQ(gap.last_seen_at, harness_->clock().now());
  EXPECT_EQ(gap.workspace, workspace_);
  EXPECT_EQ(gap.agent, agent_);
  finish(visit("turn_5", "???", GapReason::kLowConfidence));
  finish(visit("turn_6", "!", GapReason::kLowConfidence));
  EXPECT_THAT(agent_gaps(), ::testing::SizeIs(4)) << "without a word they are told apart by what is there";
}

TEST_P(VisitorTurnsContract, AnAnsweredGapOpensAgainAndAnIgnoredOneDoesNot) {
  finish(visit("turn_1", "Open on Sunday?", GapReason::kLowConfidence));
  const GapId gap = only_gap();
  EXPECT_EQ(store().set_gap_status(call_, workspace_, gap, GapStatus::kAnswered)->status, GapStatus::kAnswered);
  EXPECT_THAT(agent_gaps(GapStatus::kOpen), ::testing::IsEmpty());
  EXPECT_THAT(agent_gaps(GapStatus::kAnswered), ::testing::SizeIs(1));
  finish(visit("turn_2", "Open on Sunday?", GapReason::kLowConfidence));
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Open on Sunday? x2 open"));
  ASSERT_TRUE(store().set_gap_status(call_, workspace_, gap, GapStatus::kIgnored).has_value());
  finish(visit("turn_3", "Open on Sunday?", GapReason::kLowConfidence));
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Open on Sunday? x3 ignored"));
  EXPECT_EQ(store().set_gap_status(call_, workspace_, {987654}, GapStatus::kOpen).error().code, ErrorCode::kNotFound);
  const WorkspaceId other = harness_->other_workspace();
  EXPECT_EQ(store().set_gap_status(call_, other, gap, GapStatus::kOpen).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().agent_gap(call_, other, gap).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().agent_gaps(call_, other, agent_, {}, 10)->empty());
}

TEST_P(VisitorTurnsContract, ADownVoteOpensAGapOnce) {
  finish(visit("turn_1", "Which size?"));
  ASSERT_TRUE(rate("turn_1", Rating::kUp).has_value());
  EXPECT_THAT(agent_gaps(), ::testing::IsEmpty());
  ASSERT_TRUE(rate("turn_1", Rating::kDown, "wrong size").has_value());
  ASSERT_TRUE(rate("turn_1", Rating::kUp).has_value());
  ASSERT_TRUE(rate("turn_1", Rating::kDown, "still wrong").has_value());
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Which size? x1 open"));
  EXPECT_EQ(store().agent_gap(call_, workspace_, only_gap())->reason, GapReason::kDownVote);
  EXPECT_EQ(store().turn(call_, workspace_, {"turn_1"})->visit->feedback, (Feedback{Rating::kDown, "still wrong"})) << "the last word";
  finish(visit("turn_2", "Which size?", GapReason::kLowConfidence));
  ASSERT_TRUE(rate("turn_2", Rating::kDown).has_value());
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Which size? x2 open")) << "a turn counts once";
}

TEST_P(VisitorTurnsContract, OnlyTheVisitorRatesATurn) {
  finish(visit("turn_1", "q"));
  finish(turn("turn_2", "q", Answer{.text = "x"}));
  const auto code = [&](WorkspaceId workspace, std::string visitor, std::string id) {
    return store().rate_turn(call_, workspace, {std::move(visitor)}, {std::move(id)}, {}).error().code;
  };
  EXPECT_EQ(code(workspace_, "vis_2", "turn_1"), ErrorCode::kNotFound);
  EXPECT_EQ(code(workspace_, "vis_1", "turn_2"), ErrorCode::kNotFound) << "no visitor's";
  EXPECT_EQ(code(workspace_, "vis_1", "turn_3"), ErrorCode::kNotFound);
  EXPECT_EQ(code(harness_->other_workspace(), "vis_1", "turn_1"), ErrorCode::kNotFound);
  EXPECT_TRUE(rate("turn_1", Rating::kUp, std::string(kFeedbackCharsMax, 'x')).has_value());
  EXPECT_EQ(rate("turn_1", Rating::kUp, std::string(kFeedbackCharsMax + 1, 'x')).error().field, "reason");
}

TEST_P(VisitorTurnsContract, AVisitorIsErasedWithoutATrace) {
  finish(visit("turn_1", "My name is Ada?", GapReason::kLowConfidence), 5, 5, "{}");
  finish(visit("turn_2", "WHERE is it?", GapReason::kLowConfidence));
  ASSERT_TRUE(rate("turn_2", Rating::kDown, "bad").has_value());
  visitor_ = {"vis_2"};
  finish(visit("turn_3", "Where is it", GapReason::kLowConfidence));
  EXPECT_THAT(questions_of({"vis_1"}), ::testing::ElementsAre("My name is Ada?", "WHERE is it?"));
  EXPECT_EQ(store().erase_visitor(call_, harness_->other_workspace(), {"vis_1"}).value(), 0U);
  EXPECT_EQ(store().erase_visitor(call_, workspace_, {"vis_1"}).value(), 2U);
  EXPECT_EQ(store().erase_visitor(call_, workspace_, {"vis_1"}).value(), 0U);
  EXPECT_THAT(questions_of({"vis_1"}), ::testing::IsEmpty());
  EXPECT_EQ(store().turn(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().history(call_, workspace_, {"conv_vis_1"}, 5).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("Where is it x2 open")) << "in the words of who is left";
  EXPECT_THAT(questions_of({"vis_2"}), ::testing::ElementsAre("Where is it"));
  EXPECT_EQ(store().agent_usage(call_, workspace_, agent_, 1)->at(0).turns, 3) << "counts hold nobody's words";
}

TEST_P(VisitorTurnsContract, WhatIsAnsweredWhileAVisitorIsErasedIsNotKept) {
  const Turn under_way = visit("turn_1", "My name is Ada?", GapReason::kLowConfidence);
  Turn tried = visit("turn_2", "I am Ada");
  tried.visit->playground = true;
  harness_->clock().advance(std::chrono::seconds{1});
  EXPECT_EQ(store().erase_visitor(call_, workspace_, {"vis_1"}).value(), 0U);
  harness_->clock().advance(std::chrono::seconds{1});
  finish(under_way, 5, 5, "{}");
  finish(tried);
  EXPECT_THAT(questions_of({"vis_1"}), ::testing::IsEmpty());
  EXPECT_EQ(store().turn(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().trace(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().history(call_, workspace_, {"conv_vis_1"}, 5).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(agent_gaps(), ::testing::IsEmpty());
  EXPECT_EQ(store().agent_usage(call_, workspace_, agent_, 1)->at(0).turns, 1) << "it is counted";
  EXPECT_EQ(store().usage(call_, workspace_, 1)->at(0).questions, 1);
  finish(visit("turn_3", "Where is it?"));
  EXPECT_THAT(questions_of({"vis_1"}), ::testing::ElementsAre("Where is it?")) << "who asks again after that is kept";
  visitor_ = {"vis_2"};
  Turn of_another = visit("turn_4", "And this?");
  of_another.asked_at = under_way.asked_at;
  finish(of_another);
  EXPECT_THAT(questions_of({"vis_2"}), ::testing::ElementsAre("And this?"));
}

TEST_P(VisitorTurnsContract, OldTurnsAreErasedInSteps) {
  finish(visit("turn_1", "a", GapReason::kLowConfidence));
  finish(turn("turn_kb", "kb", Refusal{}));
  Turn elsewhere = visit("turn_other", "other");
  elsewhere.visit->agent = {"agt_other"};
  finish(elsewhere);
  harness_->clock().advance(std::chrono::hours{1});
  finish(visit("turn_2", "b"));
  harness_->clock().advance(std::chrono::hours{1});
  const UtcTime before = harness_->clock().now();
  finish(visit("turn_3", "c", GapReason::kLowConfidence));
  EXPECT_EQ(store().erase_turns(call_, harness_->other_workspace(), agent_, before, 10).value(), 0U);
  EXPECT_EQ(store().erase_turns(call_, workspace_, agent_, before, 1).value(), 1U);
  EXPECT_THAT(questions_of(visitor_), ::testing::ElementsAre("other", "b", "c"));
  EXPECT_EQ(store().erase_turns(call_, workspace_, agent_, before, 10).value(), 1U);
  EXPECT_EQ(store().erase_turns(call_, workspace_, agent_, before, 10).value(), 0U);
  EXPECT_THAT(questions_of(visitor_), ::testing::ElementsAre("other", "c"));
  EXPECT_THAT(agent_gaps(), ::testing::ElementsAre("c x1 open"));
  EXPECT_TRUE(store().turn(call_, workspace_, {"turn_kb"}).has_value());
  EXPECT_EQ(store().history(call_, workspace_, {"conv_vis_1"}, 5)->size(), 2U) << "a conversation stays as long as it has turns";
}

}  // namespace footnote::contract
