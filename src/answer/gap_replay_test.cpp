#include "answer/gap_replay.h"

#include <gmock/gmock.h>

#include "answer/agent_setup.h"
#include "fakes/memory_agent_store.h"
#include "fakes/memory_store.h"

namespace footnote::answer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GapReplay : public ::testing::Test {
 protected:
  Agent agent(const std::string& name, std::vector<CorpusId> corpora) {
    AgentSettings settings;
    settings.corpora = std::move(corpora);
    return agents_.add_agent({}, workspace_, name, settings).value();
  }
  CorpusId corpus(const std::string& name) { return store_.ensure_corpus({}, workspace_, name, {"m", 8})->id; }
  void open_gap(const Agent& agent, const std::string& question, GapReason reason = GapReason::kLowConfidence) {
    Turn turn{
        .id = {"turn_" + std::to_string(++turns_)}, .workspace = workspace_, .corpus = shop_, .question = question, .outcome = Answer{}};
    turn.visit = Visit{.agent = agent.id, .visitor = {"vis_1"}, .gap = reason};
    ASSERT_TRUE(store_.finish_turn({}, turn, 0, 0, {}).has_value());
  }
  std::vector<std::string> open(const Agent& agent) {
    std::vector<std::string> out;
    const auto gaps = store_.agent_gaps({}, workspace_, agent.id, GapStatus::kOpen, 1'000).value();
    for (const AgentGap& gap : gaps) out.push_back(gap.question);
    return out;
  }
  /// Would answer questions that contain "known"; records the questions.
  std::size_t replay(CorpusId corpus) {
    return replay_gaps({}, agents_, store_, workspace_, corpus,
                       [&](const CallContext&, WorkspaceId, const AgentSettings&, std::string_view question) -> Result<bool> {
                         asked_.emplace_back(question);
                         if (question.find("broken") != std::string_view::npos) return fail(ErrorCode::kUnavailable, "no embedder");
                         return question.find("known") != std::string_view::npos;
                       })
        .value();
  }

  ManualClock clock_{UtcTime{}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryAgentStore agents_{store_, clock_};
  WorkspaceId workspace_ = store_.find_workspace({}, kDefaultWorkspace)->id;
  CorpusId shop_ = corpus("shop");
  std::vector<std::string> asked_;
  int turns_ = 0;
};

TEST_F(GapReplay, WhatIsAnsweredNowIsClosed) {
  const Agent first = agent("A", {shop_});
  open_gap(first, "known now?");
  open_gap(first, "still open?");
  open_gap(first, "broken?");
  EXPECT_EQ(replay(shop_), 1U);
  EXPECT_THAT(open(first), ::testing::UnorderedElementsAre("still open?", "broken?")) << "what can't be tried stays open";
  EXPECT_EQ(store_.agent_gaps({}, workspace_, first.id, GapStatus::kAnswered, 10)->size(), 1U);
  EXPECT_EQ(replay(shop_), 0U);
}

TEST_F(GapReplay, OnlyAgentsThatSearchTheCorpusAreTried) {
  const Agent first = agent("A", {shop_});
  const Agent second = agent("B", {corpus("faq")});
  open_gap(first, "known by A?");
  open_gap(second, "known by B?");
  EXPECT_EQ(replay(corpus("faq")), 1U);
  EXPECT_THAT(open(first), ElementsAre("known by A?"));
  EXPECT_THAT(open(second), IsEmpty());
}

TEST_F(GapReplay, WhatVisitorsMeetCounts) {
  const Agent first = agent("A", {shop_});
  ASSERT_TRUE(agents_.publish({}, workspace_, first.id).has_value());
  AgentSettings draft = first.draft;
  draft.corpora = {corpus("faq")};
  ASSERT_TRUE(agents_.save_draft({}, workspace_, first.id, "A", draft).has_value());
  open_gap(first, "known?");
  EXPECT_EQ(replay(corpus("faq")), 0U) << "only the draft searches it";
  EXPECT_EQ(replay(shop_), 1U);
}

TEST_F(GapReplay, ADownVoteIsNotAnsweredByTheSameAnswer) {
  const Agent first = agent("A", {shop_});
  open_gap(first, "known but wrong?", GapReason::kDownVote);
  EXPECT_EQ(replay(shop_), 0U);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(GapReplay, IgnoredGapsAreLeftAlone) {
  const Agent first = agent("A", {shop_});
  open_gap(first, "known?");
  const GapId gap = store_.agent_gaps({}, workspace_, first.id, {}, 1)->at(0).id;
  ASSERT_TRUE(store_.set_gap_status({}, workspace_, gap, GapStatus::kIgnored).has_value());
  EXPECT_EQ(replay(shop_), 0U);
  EXPECT_EQ(store_.agent_gap({}, workspace_, gap)->status, GapStatus::kIgnored);
}

TEST_F(GapReplay, TheMostFrequentAreTriedUpToABound) {
  const Agent first = agent("A", {shop_});
  for (std::size_t i = 0; i <= kGapsReplayedMax; ++i) open_gap(first, "question " + std::to_string(i));
  open_gap(first, "question 7");
  replay(shop_);
  EXPECT_EQ(asked_.size(), kGapsReplayedMax);
  EXPECT_EQ(asked_.front(), "question 7");
}

TEST_F(GapReplay, AnAgentOfItsOwnCorpusIsMadeWithIt) {
  const auto make = [&](const std::string& name, AgentSettings settings) {
    return make_agent({}, agents_, store_, {"m", 8}, workspace_, name, std::move(settings));
  };
  const Agent made = make("Boots", {}).value();
  EXPECT_THAT(made.draft.corpora, ElementsAre(store_.find_corpus({}, workspace_, "Boots")->id));
  EXPECT_EQ(make("Boots", {}).error().field, "name");
  EXPECT_EQ(make("shop", {}).error().field, "corpora") << "that corpus is somebody else's";
  AgentSettings named;
  named.corpora = {shop_};
  EXPECT_THAT(make("shop", named)->draft.corpora, ElementsAre(shop_));
  AgentSettings wrong;
  wrong.theme.accent = "red";
  EXPECT_EQ(make("Hats", wrong).error().field, "theme.accent");
  EXPECT_FALSE(store_.find_corpus({}, workspace_, "Hats").has_value()) << "nothing stays behind";
}

}  // namespace
}  // namespace footnote::answer
