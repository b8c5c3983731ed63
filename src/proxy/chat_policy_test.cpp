#include "proxy/chat_policy.h"

#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/memory_keyword_index.h"
#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"

namespace footnote::proxy {
namespace {

/// Uses passages from another server.
class ChatPolicyTest : public ::testing::Test {
 protected:
  Result<ChatPlan> plan(std::string_view model = "rag/x") {
    const SearchElsewhere elsewhere = [&](const CallContext&, std::string_view, std::span<const float>,
                                          std::size_t) -> Result<std::vector<Candidate>> {
      ++searches_;
      return candidates_;
    };
    const retrieve::Retriever retriever({embedder_, vectors_, keywords_, store_});
    const retrieve::AskedCorpora corpora(store_, embedder_, {});
    const SourceFinder finder(
        {.retriever = retriever, .catalog = store_, .corpora = corpora, .points = store_, .embedder = embedder_, .elsewhere = elsewhere},
        policy_);
    return ChatPolicy(finder, policy_).plan({}, {1}, resolve_model(policy_, model), "What is new?");
  }

  fakes::FakeEmbedder embedder_;
  SystemClock clock_;
  fakes::MemoryStore store_{clock_};
  fakes::MemoryVectorStore vectors_;
  fakes::MemoryKeywordIndex keywords_;
  Policy policy_;
  std::vector<Candidate> candidates_{{"https://a/", "A", "Alpha is new.", 0.9, {}}};
  int searches_ = 0;
};

TEST_F(ChatPolicyTest, PassagesGoIntoThePrompt) {
  const auto made = plan();
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->kind, ChatPlan::Kind::kGround);
  EXPECT_TRUE(made->prompt.system.starts_with("You are a precise assistant."));
  EXPECT_NE(made->prompt.message.find("Source [1] https://a/\nAlpha is new."), std::string::npos) << made->prompt.message;
  EXPECT_EQ(made->sources.at(0).url, "https://a/");
  EXPECT_FALSE(made->own) << "of another server there is no turn to store";
}

TEST_F(ChatPolicyTest, ARuleGivesItsOwnSystemText) {
  policy_.rules = {{"support", {.model = "m", .corpus = {}, .system = "Be brief."}}};
  EXPECT_EQ(plan("rag/support")->prompt.system, "Be brief.");
}

TEST_F(ChatPolicyTest, TheSeedFormLeavesTheClientsTextsOut) {
  EXPECT_FALSE(plan()->prompt.without_client_texts);
  policy_.seed_form = true;
  EXPECT_TRUE(plan()->prompt.without_client_texts);
}

TEST_F(ChatPolicyTest, NothingFoundPassesOrIsRefused) {
  candidates_.clear();
  EXPECT_EQ(plan()->kind, ChatPlan::Kind::kPassThrough);
  policy_.no_hits = NoHits::kRefuse;
  const auto refused = plan();
  EXPECT_EQ(refused->kind, ChatPlan::Kind::kRefuse);
  EXPECT_EQ(refused->refusal.reason, RefusalReason::kNoRelevantContext);
  EXPECT_EQ(refused->refusal.text, "I could not find an answer to this in the documents.");
}

TEST_F(ChatPolicyTest, SwitchedOffItDoesNotSearch) {
  policy_.enabled = false;
  policy_.no_hits = NoHits::kRefuse;
  EXPECT_EQ(plan()->kind, ChatPlan::Kind::kPassThrough);
  EXPECT_EQ(searches_, 0);
}

}  // namespace
}  // namespace footnote::proxy
