#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/agent_store.h"
#include "ports/catalog_store.h"

/// What every AgentStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, AgentStoreContract, ::testing::Values(AgentStoreCase{"sqlite", make}), agent_store_case_name);
namespace footnote::contract {

/// An empty store, and what the suite needs around it.
class AgentStoreHarness {
 public:
  virtual ~AgentStoreHarness() = default;
  virtual AgentStore& agents() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  /// A second workspace.
  virtual WorkspaceId other_workspace() = 0;
};

struct AgentStoreCase {
  std::string name;
  std::function<std::unique_ptr<AgentStoreHarness>()> make;
};

inline std::string agent_store_case_name(const ::testing::TestParamInfo<AgentStoreCase>& info) { return info.param.name; }

class AgentStoreContract : public ::testing::TestWithParam<AgentStoreCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = harness_->catalog().ensure_corpus(call_, workspace_, "shop", {"model-a", 8}).value().id;
  }
  AgentStore& store() { return harness_->agents(); }
  AgentSettings settings() {
    AgentSettings out;
    out.corpora = {corpus_};
    return out;
  }
  Agent add(std::string_view name) { return store().add_agent(call_, workspace_, name, settings()).value(); }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    const auto agents = store().agents(call_, workspace_).value();
    for (const Agent& agent : agents) out.push_back(agent.name);
    return out;
  }
  std::vector<CuratedAnswer> save(const AgentId& agent, const std::vector<CuratedAnswer>& answers) {
    return store().save_curated(call_, workspace_, agent, answers).value();
  }
  std::vector<std::string> patterns(const AgentId& agent) {
    std::vector<std::string> out;
    const auto answers = store().curated(call_, agent).value();
    for (const CuratedAnswer& answer : answers) out.push_back(answer.pattern);
    return out;
  }

  const CallContext call_;
  std::unique_ptr<AgentStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  CorpusId corpus_;
};

/// Every field has a value other than its default.
inline AgentSettings full_settings(std::vector<CorpusId> corpora) {
  return {.persona = {.name = "Ada \xE2\x82\xAC", .tone = "dry"},
          .guardrails = {.avoid = {"politics", "our competitors"}, .max_chars = 1'000},
          .confidence_threshold = 0.625,
          .language_default = "de",
          .system_prompt = "Say \"du\".\nNever \"Sie\".",
          .starter_prompts = {"Where is my parcel?"},
          .theme = {.accent = "#112233",
                    .accent_text = "#445566",
                    .position = WidgetPosition::kLeft,
                    .title = "Help",
                    .logo_url = "https://shop.example/l.svg"},
          .allowed_origins = {"https://shop.example", "https://*.shop.example"},
          .retention_days = 30,
          .corpora = std::move(corpora)};
}

TEST_P(AgentStoreContract, AnAgentComesBackAsItWasStored) {
  const CorpusId second = harness_->catalog().ensure_corpus(call_, workspace_, "faq", {"model-a", 8}).value().id;
  const Agent made = store().add_agent(call_, workspace_, "Shop", full_settings({second, corpus_})).value();
  EXPECT_TRUE(made.id.value.starts_with("agt_"));
  EXPECT_EQ(made.published_version, 0);
  const Agent read = store().agent(call_, workspace_, made.id).value();
  EXPECT_EQ(read.id, made.id);
  EXPECT_EQ(read.workspace, workspace_);
  EXPECT_EQ(read.name, "Shop");
  EXPECT_EQ(read.draft, full_settings({second, corpus_}));
  EXPECT_EQ(read.created_at, harness_->clock().now());
  EXPECT_EQ(read.updated_at, harness_->clock().now());
  AgentSettings plain = settings();
  EXPECT_EQ(store().save_draft(call_, workspace_, made.id, "Shop", plain)->draft, plain) << "no threshold is none";
}

TEST_P(AgentStoreContract, AgentsAreListedByName) {
  add("b");
  const Agent first = add("a");
  EXPECT_THAT(names(), ::testing::ElementsAre("a", "b"));
  harness_->clock().advance(std::chrono::minutes{5});
  const Agent renamed = store().save_draft(call_, workspace_, first.id, "c", settings()).value();
  EXPECT_EQ(renamed.updated_at, harness_->clock().now());
  EXPECT_NE(renamed.created_at, renamed.updated_at);
  EXPECT_THAT(names(), ::testing::ElementsAre("b", "c"));
}

TEST_P(AgentStoreContract, ANameIsTakenOnce) {
  const Agent first = add("Shop");
  EXPECT_EQ(store().add_agent(call_, workspace_, "Shop", settings()).error().code, ErrorCode::kAlreadyExists);
  const Agent second = add("Other");
  EXPECT_EQ(store().save_draft(call_, workspace_, second.id, "Shop", settings()).error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(store().save_draft(call_, workspace_, first.id, "Shop", settings()).has_value()) << "its own";
  const WorkspaceId other = harness_->other_workspace();
  AgentSettings theirs;
  theirs.corpora = {harness_->catalog().ensure_corpus(call_, other, "shop", {"model-a", 8}).value().id};
  EXPECT_TRUE(store().add_agent(call_, other, "Shop", theirs).has_value());
}

TEST_P(AgentStoreContract, WhatIsWrongIsNotStored) {
  EXPECT_EQ(store().add_agent(call_, workspace_, "", settings()).error().field, "name");
  AgentSettings wrong = settings();
  wrong.theme.accent = "red";
  EXPECT_EQ(store().add_agent(call_, workspace_, "Shop", wrong).error().field, "theme.accent");
  wrong = settings();
  wrong.corpora = {{987654}};
  const auto unknown = store().add_agent(call_, workspace_, "Shop", wrong);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.error().field, "corpora");
  wrong.corpora = {harness_->catalog().ensure_corpus(call_, harness_->other_workspace(), "c", {"model-a", 8}).value().id};
  EXPECT_EQ(store().add_agent(call_, workspace_, "Shop", wrong).error().field, "corpora") << "another workspace's";
  EXPECT_THAT(names(), ::testing::IsEmpty());
  const Agent made = add("Shop");
  EXPECT_EQ(store().save_draft(call_, workspace_, made.id, "Shop", wrong).error().field, "corpora");
  EXPECT_EQ(store().agent(call_, workspace_, made.id)->draft, settings());
  EXPECT_EQ(store().add_agent(stopped_call(), workspace_, "Late", settings()).error().code, ErrorCode::kCancelled);
}

TEST_P(AgentStoreContract, VisitorsMeetWhatWasPublished) {
  const Agent made = add("Shop");
  EXPECT_EQ(store().published(call_, made.id).error().code, ErrorCode::kNotFound) << "a draft is nobody's to see";
  EXPECT_THAT(store().versions(call_, workspace_, made.id).value(), ::testing::IsEmpty());
  EXPECT_EQ(store().publish(call_, workspace_, made.id)->version, 1);
  AgentSettings next = settings();
  next.persona.name = "Ada";
  ASSERT_TRUE(store().save_draft(call_, workspace_, made.id, "Shop 2", next).has_value());
  EXPECT_EQ(store().published(call_, made.id)->settings, settings()) << "the draft is not out yet";
  EXPECT_EQ(store().published(call_, made.id)->name, "Shop");
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(store().publish(call_, workspace_, made.id).has_value());
  const PublishedAgent published = store().published(call_, made.id).value();
  EXPECT_EQ(published.id, made.id);
  EXPECT_EQ(published.workspace, workspace_);
  EXPECT_EQ(published.name, "Shop 2");
  EXPECT_EQ(published.version, 2);
  EXPECT_EQ(published.settings, next);
  EXPECT_EQ(published.published_at, harness_->clock().now());
  EXPECT_EQ(store().agent(call_, workspace_, made.id)->published_version, 2);
}

TEST_P(AgentStoreContract, RollingBackPublishesAnOldVersionAnew) {
  const Agent made = add("Shop");
  ASSERT_TRUE(store().publish(call_, workspace_, made.id).has_value());
  AgentSettings next = settings();
  next.system_prompt = "worse";
  ASSERT_TRUE(store().save_draft(call_, workspace_, made.id, "Shop", next).has_value());
  ASSERT_TRUE(store().publish(call_, workspace_, made.id).has_value());
  EXPECT_EQ(store().roll_back(call_, workspace_, made.id, 3).error().field, "version");
  const PublishedAgent back = store().roll_back(call_, workspace_, made.id, 1).value();
  EXPECT_EQ(back.version, 3);
  EXPECT_EQ(back.settings, settings());
  EXPECT_EQ(store().published(call_, made.id)->settings, settings());
  EXPECT_EQ(store().agent(call_, workspace_, made.id)->draft, settings());
  std::vector<int> versions;
  const auto listed = store().versions(call_, workspace_, made.id).value();
  for (const PublishedAgent& version : listed) versions.push_back(version.version);
  EXPECT_THAT(versions, ::testing::ElementsAre(3, 2, 1));
  EXPECT_EQ(listed[1].settings, next) << "a version never changes";
}

TEST_P(AgentStoreContract, ARemovedAgentIsGoneWithAllOfIt) {
  const Agent made = add("Shop");
  ASSERT_TRUE(store().publish(call_, workspace_, made.id).has_value());
  save(made.id, {{.pattern = "a", .answer = "b"}});
  ASSERT_TRUE(store().remove_agent(call_, workspace_, made.id).has_value());
  EXPECT_EQ(store().agent(call_, workspace_, made.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().published(call_, made.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().remove_agent(call_, workspace_, made.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().curated_revision(call_, made.id).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(patterns(made.id), ::testing::IsEmpty());
}

TEST_P(AgentStoreContract, HowLongARemovedAgentsTurnsAreKeptIsRemembered) {
  AgentSettings wanted = settings();
  const Agent forever = store().add_agent(call_, workspace_, "Forever", wanted).value();
  wanted.retention_days = 7;
  const Agent draft = store().add_agent(call_, workspace_, "Draft", wanted).value();
  const Agent met = store().add_agent(call_, workspace_, "Met", wanted).value();
  ASSERT_TRUE(store().publish(call_, workspace_, met.id).has_value());
  wanted.retention_days = 30;
  ASSERT_TRUE(store().save_draft(call_, workspace_, met.id, "Met", wanted).has_value());
  EXPECT_TRUE(store().removed_agents(call_, workspace_).value().empty());
  for (const Agent& agent : {forever, draft, met}) ASSERT_TRUE(store().remove_agent(call_, workspace_, agent.id).has_value());
  auto removed = store().removed_agents(call_, workspace_).value();
  ASSERT_EQ(removed.size(), 2U) << "what is kept for good has no end to remember";
  for (const RemovedAgent& agent : removed) {
    EXPECT_EQ(agent.retention_days, 7) << "as visitors met it last";
    EXPECT_EQ(agent.removed_at, harness_->clock().now());
  }
  EXPECT_TRUE(store().removed_agents(call_, harness_->other_workspace()).value().empty());
  ASSERT_TRUE(store().forget_removed(call_, workspace_, draft.id).has_value());
  ASSERT_TRUE(store().forget_removed(call_, workspace_, draft.id).has_value()) << "forgotten already";
  removed = store().removed_agents(call_, workspace_).value();
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].id, met.id);
}

TEST_P(AgentStoreContract, AnotherWorkspacesAgentIsAsOneThatNeverWas) {
  const Agent made = add("Shop");
  const CuratedAnswer kept = save(made.id, {{.pattern = "a", .answer = "b"}}).at(0);
  ASSERT_TRUE(store().publish(call_, workspace_, made.id).has_value());
  const WorkspaceId other = harness_->other_workspace();
  const AgentId nobody{"agt_nobody"};
  const auto same = [&](const Error& foreign, const Error& unknown) {
    EXPECT_EQ(foreign.code, ErrorCode::kNotFound);
    std::string expected = unknown.message;
    if (const auto at = expected.find(nobody.value); at != std::string::npos) expected.replace(at, nobody.value.size(), made.id.value);
    EXPECT_EQ(foreign.message, expected);
  };
  EXPECT_TRUE(store().agents(call_, other)->empty());
  same(store().agent(call_, other, made.id).error(), store().agent(call_, other, nobody).error());
  same(store().versions(call_, other, made.id).error(), store().versions(call_, other, nobody).error());
  same(store().publish(call_, other, made.id).error(), store().publish(call_, other, nobody).error());
  same(store().roll_back(call_, other, made.id, 1).error(), store().roll_back(call_, other, nobody, 1).error());
  same(store().save_draft(call_, other, made.id, "Mine", settings()).error(),
       store().save_draft(call_, other, nobody, "Mine", settings()).error());
  same(store().remove_agent(call_, other, made.id).error(), store().remove_agent(call_, other, nobody).error());
  const std::vector<CuratedAnswer> answers{{.pattern = "x", .answer = "y"}};
  same(store().save_curated(call_, other, made.id, answers).error(), store().save_curated(call_, other, nobody, answers).error());
  same(store().remove_curated(call_, other, made.id, kept.id).error(), store().remove_curated(call_, other, nobody, kept.id).error());
  EXPECT_EQ(store().agent(call_, workspace_, made.id)->name, "Shop");
  EXPECT_THAT(patterns(made.id), ::testing::ElementsAre("a"));
}

TEST_P(AgentStoreContract, CuratedAnswersComeBackAsTheyWereStored) {
  const Agent made = add("Shop");
  const CuratedAnswer full{.pattern = "refund, money back",
                           .answer = "Within 30 days.\n\xE2\x82\xAC",
                           .priority = -7,
                           .language = "de",
                           .page_url_prefix = "https://shop.example/returns",
                           .enabled = false};
  const CuratedAnswer saved = save(made.id, {full}).at(0);
  EXPECT_TRUE(saved.id);
  const CuratedAnswer read = store().curated(call_, made.id)->at(0);
  EXPECT_EQ(read.id, saved.id);
  EXPECT_EQ(read.agent, made.id);
  EXPECT_EQ(read.pattern, full.pattern);
  EXPECT_EQ(read.answer, full.answer);
  EXPECT_EQ(read.priority, -7);
  EXPECT_EQ(read.language, "de");
  EXPECT_EQ(read.page_url_prefix, full.page_url_prefix);
  EXPECT_FALSE(read.enabled);
  EXPECT_EQ(read.updated_at, harness_->clock().now());
}

TEST_P(AgentStoreContract, CuratedAnswersAreSavedAllOrNone) {
  const Agent made = add("Shop");
  const Agent other = add("Other");
  const auto saved = save(made.id, {{.pattern = "one", .answer = "1"}, {.pattern = "two", .answer = "2"}});
  EXPECT_THAT(patterns(made.id), ::testing::ElementsAre("one", "two"));
  EXPECT_THAT(patterns(other.id), ::testing::IsEmpty());
  CuratedAnswer changed = saved[0];
  changed.pattern = "uno";
  const CuratedAnswer fresh{.pattern = "three", .answer = "3"};
  const CuratedAnswer nowhere{.id = {987654}, .pattern = "x", .answer = "x"};
  const CuratedAnswer wrong{.pattern = "?!", .answer = "x"};
  const auto error_of = [&](const AgentId& agent, const std::vector<CuratedAnswer>& answers) {
    return store().save_curated(call_, workspace_, agent, answers).error();
  };
  EXPECT_EQ(error_of(made.id, {changed, fresh, nowhere}).code, ErrorCode::kNotFound);
  EXPECT_EQ(error_of(made.id, {changed, fresh, wrong}).field, "pattern");
  EXPECT_EQ(error_of(other.id, {changed}).code, ErrorCode::kNotFound) << "another agent's answer";
  EXPECT_THAT(patterns(made.id), ::testing::ElementsAre("one", "two"));
  save(made.id, {fresh, changed});
  EXPECT_THAT(patterns(made.id), ::testing::ElementsAre("uno", "two", "three"));
  ASSERT_TRUE(store().remove_curated(call_, workspace_, made.id, saved[1].id).has_value());
  EXPECT_EQ(store().remove_curated(call_, workspace_, made.id, saved[1].id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().remove_curated(call_, workspace_, other.id, saved[0].id).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(patterns(made.id), ::testing::ElementsAre("uno", "three"));
}

TEST_P(AgentStoreContract, TheRevisionTellsOfChangesOfCuratedAnswersAlone) {
  const Agent made = add("Shop");
  const Agent other = add("Other");
  const auto revision = [&] { return store().curated_revision(call_, made.id).value(); };
  const auto first = revision();
  const CuratedAnswer saved = save(made.id, {{.pattern = "one", .answer = "1"}}).at(0);
  const auto second = revision();
  EXPECT_NE(second, first);
  save(other.id, {{.pattern = "one", .answer = "1"}});
  ASSERT_TRUE(store().publish(call_, workspace_, made.id).has_value());
  EXPECT_FALSE(store()
                   .save_curated(call_, workspace_, made.id, std::vector<CuratedAnswer>{{.id = {987654}, .pattern = "x", .answer = "x"}})
                   .has_value());
  EXPECT_EQ(revision(), second);
  save(made.id, {saved});
  const auto third = revision();
  EXPECT_NE(third, second);
  ASSERT_TRUE(store().remove_curated(call_, workspace_, made.id, saved.id).has_value());
  EXPECT_NE(revision(), third);
}

TEST_P(AgentStoreContract, CuratedAnswersHaveABound) {
  const Agent made = add("Shop");
  std::vector<CuratedAnswer> answers(kCuratedAnswersMax, {.pattern = "word", .answer = "x"});
  save(made.id, answers);
  const std::vector<CuratedAnswer> one{{.pattern = "more", .answer = "x"}};
  EXPECT_EQ(store().save_curated(call_, workspace_, made.id, one).error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(store().curated(call_, made.id)->size(), kCuratedAnswersMax);
}

TEST_P(AgentStoreContract, AWorkspaceHasABoundOfAgents) {
  for (std::size_t i = 0; i < kAgentsMax; ++i) add("agent " + std::to_string(i));
  EXPECT_EQ(store().add_agent(call_, workspace_, "one more", settings()).error().code, ErrorCode::kResourceExhausted);
}

TEST_P(AgentStoreContract, VersionsAreCountedBetweenThreads) {
  const Agent made = add("Shop");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 5; ++n) EXPECT_TRUE(store().publish(call_, workspace_, made.id).has_value());
      });
    }
  }
  EXPECT_EQ(store().published(call_, made.id)->version, 20);
}

}  // namespace footnote::contract
