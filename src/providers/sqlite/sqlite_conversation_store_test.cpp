#include "providers/sqlite/sqlite_conversation_store.h"

#include <gmock/gmock.h>

#include "providers/sqlite/sqlite_event_sink.h"
#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace {

class SqliteConversationStoreTest : public SqliteStoreTest {
 protected:
  SqliteConversationStore conversations() { return SqliteConversationStore(*store_); }

  Turn turn(const std::string& id, const std::string& question, Outcome outcome) {
    return {.id = {id},
            .workspace = workspace_,
            .corpus = corpus_,
            .conversation = {"conv_1"},
            .question = question,
            .outcome = std::move(outcome),
            .generation = 3,
            .latency = std::chrono::milliseconds{42},
            .asked_at = clock_.now()};
  }
  Result<void> finish(const Turn& turn) { return conversations().finish_turn(call_, turn, 100, 20, R"({"version":1})"); }
  static Outcome refusal() { return Refusal{.reason = RefusalReason::kNoRelevantContext, .text = "Not in here.", .nearest = {}}; }
};

TEST_F(SqliteConversationStoreTest, GivesBackATurn) {
  Turn stored =
      turn("turn_1", "How long?", Answer{.text = "Three days [1].", .sources = {}, .citations = {}, .confidence = 0.75, .model = "m"});
  stored.state = TurnState::kPartial;
  ASSERT_TRUE(finish(stored).has_value());
  const Turn read = conversations().turn(call_, workspace_, {"turn_1"}).value();
  EXPECT_EQ(read.id, stored.id);
  EXPECT_EQ(read.workspace, workspace_);
  EXPECT_EQ(read.corpus, corpus_);
  EXPECT_EQ(read.conversation, stored.conversation);
  EXPECT_EQ(read.question, "How long?");
  EXPECT_EQ(read.state, TurnState::kPartial);
  EXPECT_EQ(read.generation, 3);
  EXPECT_EQ(read.latency.count(), 42);
  EXPECT_EQ(read.asked_at, kTestStart);
  ASSERT_TRUE(std::holds_alternative<Answer>(read.outcome));
  EXPECT_EQ(std::get<Answer>(read.outcome).text, "Three days [1].");
  EXPECT_EQ(conversations().turn(call_, workspace_, {"turn_2"}).error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteConversationStoreTest, OnlyTheLatestTracesAreKept) {
  open({.turn_traces_max = 3});
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(finish(turn(fmt::format("turn_{}", i), "q", refusal())).has_value());
  for (int i = 1; i <= 5; ++i) {
    const TurnId id{fmt::format("turn_{}", i)};
    EXPECT_EQ(conversations().trace(call_, workspace_, id).has_value(), i > 2) << i;
    EXPECT_TRUE(conversations().turn(call_, workspace_, id).has_value()) << "the turn stays";
  }
  open({.turn_traces_max = 0});
  ASSERT_TRUE(finish(turn("turn_6", "q", refusal())).has_value());
  for (int i = 1; i <= 6; ++i) {
    EXPECT_EQ(conversations().trace(call_, workspace_, {fmt::format("turn_{}", i)}).error().code, ErrorCode::kNotFound) << i;
  }
}

TEST_F(SqliteConversationStoreTest, ALoweredLimitOfTracesIsReachedInSmallSteps) {
  for (int i = 1; i <= 20; ++i) ASSERT_TRUE(finish(turn(fmt::format("turn_{}", i), "q", refusal())).has_value());
  open({.turn_traces_max = 1});
  const auto left = [&] {
    return store_
        ->read(call_,
               [](sql::Database& database) -> Result<std::int64_t> {
                 FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM turn_traces"));
                 FOOTNOTE_CHECK(count.step());
                 return count.integer(0);
               })
        .value();
  };
  std::vector<std::int64_t> counts;
  for (int i = 21; i <= 23; ++i) {
    ASSERT_TRUE(finish(turn(fmt::format("turn_{}", i), "q", refusal())).has_value());
    counts.push_back(left());
  }
  EXPECT_EQ(counts, (std::vector<std::int64_t>{13, 6, 1}));
}

TEST_F(SqliteConversationStoreTest, AtTheLimitOfTracesTheFileStopsGrowingByThem) {
  open({.turn_traces_max = 10});
  const std::string trace(16'000, 'x');
  const auto pages_after = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      EXPECT_TRUE(conversations().finish_turn(call_, turn(fmt::format("turn_{}", i), "q", refusal()), 1, 1, trace).has_value());
    }
    return store_
        ->read(call_,
               [](sql::Database& database) -> Result<std::int64_t> {
                 FOOTNOTE_TRY(auto count, database.prepare("PRAGMA page_count"));
                 FOOTNOTE_CHECK(count.step());
                 return count.integer(0);
               })
        .value();
  };
  const std::int64_t full = pages_after(0, 20);
  const std::int64_t later = pages_after(20, 120);
  EXPECT_LT(later - full, 100) << "less than a page a turn, where a trace takes four";
}

TEST_F(SqliteConversationStoreTest, ATraceSurvivesARestartAndGoesWithItsTurn) {
  ASSERT_TRUE(finish(turn("turn_1", "q", refusal())).has_value());
  ASSERT_TRUE(finish(turn("turn_2", "q", refusal())).has_value());
  open();
  EXPECT_EQ(conversations().trace(call_, workspace_, {"turn_1"}).value(), R"({"version":1})");
  execute("DELETE FROM turns WHERE id = 'turn_1'");
  EXPECT_EQ(conversations().trace(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(conversations().trace(call_, workspace_, {"turn_2"}).has_value());
  const auto left = store_->read(call_, [](sql::Database& database) -> Result<std::int64_t> {
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM turn_traces"));
    FOOTNOTE_CHECK(count.step());
    return count.integer(0);
  });
  EXPECT_EQ(left.value(), 1) << "no trace outlives its turn";
}

TEST_F(SqliteConversationStoreTest, AStoreFromBeforeTracesIsUpgradedInPlace) {
  ASSERT_TRUE(finish(turn("turn_1", "q", refusal())).has_value());
  execute(kUndoJobs);
  execute(kUndoPoints);
  execute("DROP TABLE turn_traces; DROP TABLE chunk_codes; PRAGMA user_version = 3");
  open();
  EXPECT_TRUE(conversations().turn(call_, workspace_, {"turn_1"}).has_value());
  EXPECT_EQ(conversations().trace(call_, workspace_, {"turn_1"}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(finish(turn("turn_2", "q", refusal())).has_value());
  EXPECT_TRUE(conversations().trace(call_, workspace_, {"turn_2"}).has_value());
}

TEST_F(SqliteConversationStoreTest, RefusesATurnTwiceAndCountsItOnce) {
  ASSERT_TRUE(finish(turn("turn_1", "q", refusal())).has_value());
  EXPECT_EQ(finish(turn("turn_1", "q", refusal())).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(conversations().usage(call_, workspace_, 1)->at(0).questions, 1);
  EXPECT_EQ(conversations().gaps(call_, corpus_, 10)->at(0).occurrences, 1);
  EXPECT_EQ(finish(turn("", "q", refusal())).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SqliteConversationStoreTest, GivesTheLastTurnsOldestFirst) {
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(finish(turn(fmt::format("turn_{}", i), fmt::format("q{}", i), Clarification{"?"})).has_value());
  Turn stateless = turn("turn_6", "q6", Clarification{"?"});
  stateless.conversation = {};
  ASSERT_TRUE(finish(stateless).has_value());
  const auto history = conversations().history(call_, workspace_, {"conv_1"}, 3).value();
  ASSERT_EQ(history.size(), 3U);
  EXPECT_EQ(history[0].question, "q3");
  EXPECT_EQ(history[2].question, "q5");
  EXPECT_FALSE(conversations().turn(call_, workspace_, {"turn_6"})->conversation);
}

TEST_F(SqliteConversationStoreTest, KeepsWorkspacesApart) {
  ASSERT_TRUE(finish(turn("turn_1", "q", refusal())).has_value());
  const WorkspaceId other = catalog().add_workspace(call_, "other").value().id;
  EXPECT_EQ(conversations().turn(call_, other, {"turn_1"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(conversations().history(call_, other, {"conv_1"}, 10).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(conversations().usage(call_, other, 30)->empty());
  EXPECT_EQ(conversations().gaps(call_, {4711}, 10).error().code, ErrorCode::kNotFound);
  // A turn of another workspace must not name our corpus.
  Turn crossed = turn("turn_2", "q", refusal());
  crossed.workspace = other;
  EXPECT_EQ(finish(crossed).error().code, ErrorCode::kNotFound);
  // The same ids in another workspace are other turns and another conversation.
  const CorpusId theirs = catalog().ensure_corpus(call_, other, "c", space_).value().id;
  Turn twin = turn("turn_1", "their question", refusal());
  twin.workspace = other;
  twin.corpus = theirs;
  ASSERT_TRUE(finish(twin).has_value());
  EXPECT_EQ(conversations().turn(call_, workspace_, {"turn_1"})->question, "q");
  EXPECT_EQ(conversations().history(call_, workspace_, {"conv_1"}, 10)->size(), 1U);
}

TEST_F(SqliteConversationStoreTest, RollsUpGaps) {
  ASSERT_TRUE(finish(turn("t1", "Who painted  it?", refusal())).has_value());
  ASSERT_TRUE(finish(turn("t2", "Where?", refusal())).has_value());
  clock_.advance(std::chrono::minutes{5});
  ASSERT_TRUE(finish(turn("t3", "who PAINTED it", refusal())).has_value());
  ASSERT_TRUE(
      finish(turn("t4", "who painted it", Refusal{.reason = RefusalReason::kLlmSelfRefusal, .text = "", .nearest = {}})).has_value());
  ASSERT_TRUE(finish(turn("t5", "who painted it", Answer{})).has_value());
  const auto gaps = conversations().gaps(call_, corpus_, 10).value();
  ASSERT_EQ(gaps.size(), 3U);
  EXPECT_EQ(gaps[0].question, "Who painted  it?");
  EXPECT_EQ(gaps[0].occurrences, 2);
  EXPECT_EQ(gaps[0].reason, GapReason::kNoRelevantContext);
  EXPECT_EQ(gaps[0].workspace, workspace_);
  EXPECT_EQ(gaps[0].first_seen_at, kTestStart);
  EXPECT_EQ(gaps[0].last_seen_at, clock_.now());
  EXPECT_EQ(conversations().gaps(call_, corpus_, 1)->size(), 1U);
}

TEST_F(SqliteConversationStoreTest, CountsUsageByDay) {
  ASSERT_TRUE(finish(turn("t1", "q", Answer{})).has_value());
  ASSERT_TRUE(finish(turn("t2", "q", refusal())).has_value());
  clock_.advance(std::chrono::days{2});
  ASSERT_TRUE(finish(turn("t3", "q", Clarification{"?"})).has_value());
  const auto usage = conversations().usage(call_, workspace_, 3).value();
  ASSERT_EQ(usage.size(), 2U);
  EXPECT_EQ(usage[0].day, "2026-03-01");
  EXPECT_EQ(usage[0].questions, 2);
  EXPECT_EQ(usage[0].answers, 1);
  EXPECT_EQ(usage[0].refusals, 1);
  EXPECT_EQ(usage[0].prompt_tokens, 200);
  EXPECT_EQ(usage[0].completion_tokens, 40);
  EXPECT_EQ(usage[1].day, "2026-03-03");
  EXPECT_EQ(usage[1].questions, 1);
  EXPECT_EQ(conversations().usage(call_, workspace_, 2)->size(), 1U);
  EXPECT_TRUE(conversations().usage(call_, workspace_, 0)->empty());
}

TEST(NormaliseQuestion, DropsWhatDoesNotTellQuestionsApart) {
  EXPECT_EQ(normalise_question("  Who\tis it ?! "), "who is it");
  EXPECT_EQ(normalise_question("?"), "");
}

class SqliteEventSinkTest : public SqliteStoreTest {
 protected:
  SqliteEventSink events() { return SqliteEventSink(*store_); }
};

TEST_F(SqliteEventSinkTest, GivesEventsBackInOrder) {
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(events()
                    .append(call_, {.workspace = workspace_,
                                    .corpus = corpus_,
                                    .type = "generation_published",
                                    .payload = fmt::format("{{\"generation\":{}}}", i),
                                    .happened_at = clock_.now()})
                    .has_value());
  }
  ASSERT_TRUE(
      events().append(call_, {.workspace = workspace_, .type = "key_added", .payload = "{}", .happened_at = clock_.now()}).has_value());
  const auto all = events().after(call_, workspace_, {}, {}, 10).value();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].payload, "{\"generation\":1}");
  EXPECT_EQ(all[0].corpus, corpus_);
  EXPECT_EQ(all[0].type, "generation_published");
  EXPECT_EQ(all[0].happened_at, kTestStart);
  EXPECT_FALSE(all[3].corpus);
  EXPECT_EQ(events().after(call_, workspace_, {}, all[1].id, 1)->at(0).id, all[2].id);
  EXPECT_EQ(events().after(call_, workspace_, corpus_, all[1].id, 10)->size(), 1U);
}

TEST_F(SqliteEventSinkTest, KeepsWorkspacesApart) {
  const WorkspaceId other = catalog().add_workspace(call_, "other").value().id;
  ASSERT_TRUE(events()
                  .append(call_, {.workspace = workspace_, .corpus = corpus_, .type = "x", .payload = "{}", .happened_at = kTestStart})
                  .has_value());
  EXPECT_TRUE(events().after(call_, other, {}, {}, 10)->empty());
  EXPECT_TRUE(events().after(call_, other, corpus_, {}, 10)->empty());
  EXPECT_EQ(
      events().append(call_, {.workspace = other, .corpus = corpus_, .type = "x", .payload = "{}", .happened_at = kTestStart}).error().code,
      ErrorCode::kNotFound);
}

}  // namespace
}  // namespace footnote
