#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "answer/answer_service.h"
#include "answer/visitor_turn.h"
#include "base/log.h"
#include "domain/webhook.h"
#include "fakes/fake_embedder.h"
#include "fakes/fake_llm.h"
#include "fakes/fake_reader.h"
#include "fakes/memory_cache.h"
#include "fakes/memory_keyword_index.h"
#include "fakes/memory_vector_store.h"
#include "ingest/index_sync.h"
#include "ingest/ingestor.h"
#include "providers/local/counted_events.h"
#include "providers/sqlite/sqlite_agent_store.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/sqlite_event_sink.h"
#include "providers/sqlite/sqlite_webhook_store.h"
#include "support/temp_folder.h"

namespace footnote::app {
namespace {

constexpr std::size_t kPieces = 50;

/// Records the statement count with each piece of the answer.
class Counting final : public answer::TurnListener {
 public:
  explicit Counting(const std::atomic<std::uint64_t>& statements) : statements_(statements) {}
  Result<void> on_start(const TurnId&) override { return {}; }
  Result<void> on_sources(std::span<const SourceBlock> sources) override {
    sources_ = sources.size();
    return {};
  }
  Result<void> on_text(std::string_view) override {
    counts_.push_back(statements_.load());
    return {};
  }
  Result<void> on_withdraw(const answer::Withdrawal&) override { return {}; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::size_t sources() const { return sources_; }

 private:
  const std::atomic<std::uint64_t>& statements_;
  std::vector<std::uint64_t> counts_;
  std::size_t sources_ = 0;
};

/// Runs turns on the embedded database and counts the statements of its readers and writer.
class StreamingStatements : public testing::Test {
 protected:
  StreamingStatements() {
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < kPieces; ++i) pieces.push_back("word" + std::to_string(i) + " ");
    pieces.back() = "days [1].";
    llm_.say(pieces);
    const SourceId source = catalog_.ensure_source({}, corpus_.id, SourceKind::kText, "")->id;
    const std::vector<ingest::MemoryDocument> documents{{.key = "a.md", .content = "Shipping takes three days."},
                                                        {.key = "b.md", .content = "Shipping to Sweden takes five days."}};
    EXPECT_TRUE(ingestor_.ingest_documents({}, corpus_, source, documents, {}));
  }

  Result<answer::TurnReport> visit(const std::string& question, answer::TurnListener& listener) {
    const answer::VisitorService visitors({.retriever = site_,
                                           .reader = reader_,
                                           .llm = &llm_,
                                           .conversations = conversations_,
                                           .agents = agents_,
                                           .cache = &cache_,
                                           .clock = clock_,
                                           .events = &events_});
    return visitors.answer(
        {},
        {.agent = agent_, .corpora = {{corpus_.id, kVisitorProfile}}, .visitor = {"vis_1"}, .conversation = {"conv_1"}, .text = question},
        listener);
  }
  PublishedAgent published_agent() {
    AgentSettings settings;
    settings.corpora = {corpus_.id};
    const AgentId id = agents_.add_agent({}, workspace_, "Shop", settings).value().id;
    return agents_.publish({}, workspace_, id).value();
  }

  void expect_quiet(const Counting& heard) const {
    ASSERT_GE(heard.counts().size(), kPieces - 1) << "token by token";
    EXPECT_GT(heard.sources(), 0U);
    EXPECT_GT(heard.counts().front(), at_start_) << "statements are counted: there were some before the first token";
    EXPECT_EQ(heard.counts().back(), heard.counts().front()) << "none between the first token and the last";
    EXPECT_GT(statements_.load(), heard.counts().back()) << "the turn is stored after the last";
    EXPECT_EQ(metrics_.counter("footnote_events_total", "", {{"event", "token_streamed"}}).value(), heard.counts().size());
    EXPECT_EQ(metrics_.counter("footnote_events_total", "", {{"event", "turn_completed"}}).value(), 1U);
    const auto kept = sink_.after({}, workspace_, corpus_.id, {}, 100).value();
    ASSERT_EQ(kept.size(), 1U) << "the end is kept, tokens are not";
    EXPECT_EQ(kept[0].type, "turn.completed");
  }

  test::TempFolder folder_;
  SystemClock clock_;
  std::atomic<std::uint64_t> statements_{0};
  const sql::StatementObserver count_ = [this](std::string_view) { ++statements_; };
  std::unique_ptr<SqliteStore> store_ = SqliteStore::open(folder_.path(), {.on_statement = &count_}, clock_).value();
  SqliteCatalogStore catalog_{*store_};
  SqliteChunkStore chunks_{*store_};
  SqliteConversationStore conversations_{*store_};
  SqliteAgentStore agents_{*store_};
  SqliteEventSink sink_{*store_};
  mutable Metrics metrics_;
  CountedEvents events_{sink_, metrics_};
  fakes::FakeEmbedder embedder_;
  fakes::FakeReader reader_;
  fakes::FakeLlm llm_;
  fakes::MemoryVectorStore vectors_;
  fakes::MemoryKeywordIndex keywords_;
  fakes::MemoryCache cache_{clock_};
  ingest::IndexSync sync_{chunks_, {&vectors_, &keywords_}, clock_};
  ingest::Ingestor ingestor_{chunks_, embedder_, &sync_};
  const retrieve::Retriever retriever_{{embedder_, vectors_, keywords_, chunks_}};
  const WorkspaceId workspace_ = catalog_.find_workspace({}, kDefaultWorkspace)->id;
  const Corpus corpus_ = catalog_.ensure_corpus({}, workspace_, "memory", embedder_.space()).value();
  const retrieve::SiteRetriever site_{{retriever_, vectors_, keywords_, chunks_, &cache_, "fake", ""}};
  const PublishedAgent agent_ = published_agent();
  std::uint64_t at_start_ = 0;
};

TEST_F(StreamingStatements, NoneWhileAVisitorsAnswerStreams) {
  Counting heard(statements_);
  at_start_ = statements_.load();
  const auto report = visit("How many days does shipping take?", heard);
  ASSERT_TRUE(report) << report.error().message;
  expect_quiet(heard);
}

TEST_F(StreamingStatements, NoneWhileAnotherAnswerStreams) {
  const answer::AnswerService answers(
      {.retriever = retriever_, .reader = reader_, .llm = &llm_, .conversations = conversations_, .clock = clock_, .events = &events_});
  Counting heard(statements_);
  at_start_ = statements_.load();
  const auto report =
      answers.answer({}, {.workspace = workspace_, .corpus = corpus_.id, .text = "How many days does shipping take?"}, heard);
  ASSERT_TRUE(report) << report.error().message;
  expect_quiet(heard);
}

/// Each row that a visitor's turn writes fails in turn: the answer is still sent whole, and nothing is half stored.
TEST_F(StreamingStatements, NoStepAfterTheStreamBreaksTheAnswer) {
  set_log_level(LogLevel::kOff);
  SqliteWebhookStore webhooks{*store_};
  const std::vector<std::string> wanted{std::string(kTurnCompleted), std::string(kGapOpened)};
  ASSERT_TRUE(webhooks.add_endpoint({}, {.workspace = workspace_, .url = "https://hooks.example/", .events = wanted}));
  constexpr sql::SqlText kRefusals[] = {"CREATE TRIGGER refused BEFORE INSERT ON conversations BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON turn_traces BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON visits BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON agent_gaps BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON agent_usage_days BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON usage_days BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON webhook_outbox BEGIN SELECT RAISE(ABORT, 'no'); END",
                                        "CREATE TRIGGER refused BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END"};
  const auto execute = [&](sql::SqlText script) {
    ASSERT_TRUE(store_->write({}, [&](sql::Database& database) { return database.execute(script); }));
  };
  for (const sql::SqlText refusal : kRefusals) {
    execute(refusal);
    Counting heard(statements_);
    const auto report = visit("Who painted the Night Watch?", heard);  // nothing is found: a gap
    ASSERT_TRUE(report) << refusal.view();
    EXPECT_GE(heard.counts().size(), kPieces - 1) << refusal.view();
    EXPECT_TRUE(conversations_.visitor_turns({}, workspace_, {"vis_1"})->empty()) << refusal.view();
    EXPECT_TRUE(conversations_.agent_usage({}, workspace_, agent_.id, 1)->empty()) << refusal.view();
    EXPECT_TRUE(conversations_.agent_gaps({}, workspace_, agent_.id, std::nullopt, 9)->empty()) << refusal.view();
    EXPECT_TRUE(webhooks.due({}, clock_.now(), 9)->empty()) << refusal.view();
    EXPECT_TRUE(sink_.after({}, workspace_, corpus_.id, {}, 9)->empty()) << refusal.view();
    execute("DROP TRIGGER refused");
  }
  Counting heard(statements_);
  ASSERT_TRUE(visit("Who painted the Night Watch?", heard));
  EXPECT_EQ(conversations_.visitor_turns({}, workspace_, {"vis_1"})->size(), 1U);
  EXPECT_EQ(conversations_.agent_gaps({}, workspace_, agent_.id, std::nullopt, 9)->size(), 1U);
  EXPECT_EQ(webhooks.due({}, clock_.now(), 9)->size(), 2U);
}

}  // namespace
}  // namespace footnote::app
