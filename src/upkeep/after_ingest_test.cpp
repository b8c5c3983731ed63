#include "upkeep/after_ingest.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/log.h"
#include "fakes/memory_agent_store.h"
#include "fakes/memory_store.h"
#include "fakes/memory_webhook_store.h"
#include "upkeep/retention.h"

namespace footnote::upkeep {
namespace {

class AgentWork : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_level(LogLevel::kOff);
    workspace_ = store_.find_workspace({}, kDefaultWorkspace)->id;
    corpus_ = store_.ensure_corpus({}, workspace_, "shop", {"m", 8}).value();
  }
  Agent agent(const std::string& name, int retention_days = 0) {
    AgentSettings settings;
    settings.corpora = {corpus_.id};
    settings.retention_days = retention_days;
    return agents_.add_agent({}, workspace_, name, settings).value();
  }
  void ask(const Agent& agent, const std::string& id, std::optional<GapReason> gap = {}) {
    Turn turn{.id = {id}, .workspace = workspace_, .corpus = corpus_.id, .question = id, .outcome = Answer{}, .asked_at = clock_.now()};
    turn.visit = Visit{.agent = agent.id, .visitor = {"vis_1"}, .gap = gap};
    ASSERT_TRUE(store_.finish_turn({}, turn, 0, 0, {}).has_value());
  }
  std::size_t open_gaps(const Agent& agent) { return store_.agent_gaps({}, workspace_, agent.id, GapStatus::kOpen, 100)->size(); }
  std::size_t turns() { return store_.visitor_turns({}, workspace_, {"vis_1"})->size(); }
  std::size_t erase() { return erase_expired_turns({}, store_, agents_, store_, clock_.now()).value(); }

  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryAgentStore agents_{store_, clock_};
  fakes::MemoryWebhookStore webhooks_{clock_};
  WorkspaceId workspace_;
  Corpus corpus_;
};

TEST_F(AgentWork, AnIngestTellsWebhooksAndClosesGaps) {
  const Agent shop = agent("Shop");
  ask(shop, "known now", GapReason::kLowConfidence);
  ask(shop, "unknown", GapReason::kLowConfidence);
  const std::vector<std::string> events{std::string(kSourceIndexed)};
  ASSERT_TRUE(webhooks_.add_endpoint({}, {.workspace = workspace_, .url = "https://h.example/", .events = events}).has_value());
  AfterIngest work({agents_, store_, webhooks_, clock_,
                    [](const CallContext&, WorkspaceId, const AgentSettings&, std::string_view question) -> Result<bool> {
                      return question == "known now";
                    }});
  work.changed(corpus_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while (open_gaps(shop) > 1 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  EXPECT_EQ(open_gaps(shop), 1U);
  const auto due = webhooks_.due({}, clock_.now(), 10).value();
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].news.subject, std::to_string(corpus_.id.value));
}

TEST_F(AgentWork, AnIngestNeverWaitsForIt) {
  const Agent shop = agent("Shop");
  ask(shop, "slow", GapReason::kLowConfidence);
  Mutex gate;
  std::size_t tried = 0;
  gate.lock();
  {
    AfterIngest work(
        {agents_, store_, webhooks_, clock_, [&](const CallContext&, WorkspaceId, const AgentSettings&, std::string_view) -> Result<bool> {
           MutexLock lock(gate);
           ++tried;
           return false;
         }});
    for (std::size_t i = 0; i < 3 * AfterIngest::kWaitingMax; ++i) {
      Corpus other = corpus_;
      other.id = {static_cast<std::int64_t>(1'000 + i)};
      work.changed(other);
      work.changed(corpus_);
    }
    gate.unlock();
  }
  EXPECT_LE(tried, 3U) << "one corpus waits once, however often it changed";
}

TEST_F(AgentWork, TurnsGoWhenTheirTimeIsOver) {
  const Agent kept = agent("Kept");
  const Agent brief = agent("Brief", 2);
  ask(kept, "a");
  ask(brief, "b");
  clock_.advance(std::chrono::hours{47});
  ask(brief, "c");
  EXPECT_EQ(erase(), 0U);
  clock_.advance(std::chrono::hours{2});
  EXPECT_EQ(erase(), 1U);
  EXPECT_EQ(turns(), 2U);
}

TEST_F(AgentWork, ThePublishedRetentionHolds) {
  const Agent brief = agent("Brief", 2);
  ASSERT_TRUE(agents_.publish({}, workspace_, brief.id).has_value());
  AgentSettings draft = brief.draft;
  draft.retention_days = 1;
  ASSERT_TRUE(agents_.save_draft({}, workspace_, brief.id, "Brief", draft).has_value());
  ask(brief, "a");
  clock_.advance(std::chrono::hours{36});
  EXPECT_EQ(erase(), 0U);
  ASSERT_TRUE(agents_.publish({}, workspace_, brief.id).has_value());
  EXPECT_EQ(erase(), 1U);
}

TEST_F(AgentWork, TurnsOfARemovedAgentGoToo) {
  const Agent kept = agent("Kept");
  const Agent brief = agent("Brief", 2);
  ask(kept, "a");
  ask(brief, "b", GapReason::kLowConfidence);
  ASSERT_TRUE(agents_.remove_agent({}, workspace_, kept.id).has_value());
  ASSERT_TRUE(agents_.remove_agent({}, workspace_, brief.id).has_value());
  ask(brief, "under way when it was removed");
  clock_.advance(std::chrono::hours{47});
  EXPECT_EQ(erase(), 0U);
  clock_.advance(std::chrono::hours{2});
  EXPECT_EQ(erase(), 2U);
  EXPECT_EQ(open_gaps(brief), 0U);
  EXPECT_EQ(turns(), 1U) << "without a retention they are kept";
  EXPECT_EQ(agents_.removed_agents({}, workspace_)->size(), 1U);
  clock_.advance(std::chrono::hours{24});
  EXPECT_EQ(erase(), 0U);
  EXPECT_TRUE(agents_.removed_agents({}, workspace_)->empty()) << "nothing is left to wait for";
}

TEST_F(AgentWork, ManyTurnsGoInSteps) {
  const Agent brief = agent("Brief", 1);
  for (std::size_t i = 0; i <= kErasedAtOnceMax; ++i) ask(brief, "turn " + std::to_string(i));
  clock_.advance(std::chrono::hours{25});
  EXPECT_EQ(erase(), kErasedAtOnceMax + 1);
  EXPECT_EQ(turns(), 0U);
}

}  // namespace
}  // namespace footnote::upkeep
