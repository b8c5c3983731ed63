#include "answer/curated_match.h"

#include <gtest/gtest.h>

#include "fakes/memory_agent_store.h"
#include "fakes/memory_store.h"

namespace footnote::answer {
namespace {

CuratedAnswer entry(std::int64_t id, std::string pattern, std::int64_t priority = 0) {
  return {.id = {id}, .pattern = std::move(pattern), .answer = "answer", .priority = priority};
}

/// The id of the matched answer, 0 for none.
std::int64_t taken(std::vector<CuratedAnswer> answers, const CuratedQuestion& question) {
  const CuratedMatcher matcher(std::move(answers));
  const CuratedAnswer* found = matcher.match(question);
  return found == nullptr ? 0 : found->id.value;
}

TEST(CuratedMatch, APhraseMatchesAsWholeWords) {
  const std::vector<CuratedAnswer> answers{entry(1, "refund, money back")};
  for (const char* question : {"refund", "Refund?", "I want a REFUND, please", "a-refund-now", "Money  back!", "give me my (money back)",
                               "r\xC3\xA9"
                               "fund"}) {
    EXPECT_EQ(taken(answers, {question}), 1) << question;
  }
  for (const char* question :
       {"", "?", "refundable", "refunds", "prerefund", "re fund", "money", "back money", "money is back", "moneyback", "refund2"}) {
    EXPECT_EQ(taken(answers, {question}), 0) << question;
  }
}

TEST(CuratedMatch, AccentsSpacingAndPunctuationOfThePatternDoNotCountEither) {
  EXPECT_EQ(taken({entry(1, " Öffnungs-Zeiten ,, ?! ")}, {"Wann sind die offnungs zeiten"}), 1);
  EXPECT_EQ(taken({entry(1, "grąžinimas")}, {"Kaip vyksta GRAZINIMAS?"}), 1);
  EXPECT_EQ(taken({entry(1, "退款")}, {"我想退款。"}), 1);
  EXPECT_EQ(taken({entry(1, "退货")}, {"我想退款。"}), 0);
}

TEST(CuratedMatch, AnEmptyPhraseMatchesNothing) {
  EXPECT_EQ(taken({entry(1, ", ,")}, {"anything"}), 0);
  EXPECT_EQ(taken({}, {"anything"}), 0);
}

TEST(CuratedMatch, TheHighestPriorityThenTheLongestPhraseThenTheLowestIdWins) {
  EXPECT_EQ(taken({entry(1, "refund policy", 1), entry(2, "refund", 2)}, {"your refund policy"}), 2);
  EXPECT_EQ(taken({entry(1, "refund"), entry(2, "refund policy")}, {"your refund policy"}), 2);
  EXPECT_EQ(taken({entry(2, "policy"), entry(1, "refund")}, {"policy refund"}), 1) << "both have six letters";
  EXPECT_EQ(taken({entry(3, "refund"), entry(2, "refund, your refund policy"), entry(1, "refund")}, {"your refund policy"}), 2);
  EXPECT_EQ(taken({entry(7, "refund"), entry(4, "refund")}, {"refund"}), 4);
  EXPECT_EQ(taken({entry(1, "refund", -1), entry(2, "refund", 0)}, {"refund"}), 2);
}

TEST(CuratedMatch, ThePhraseThatMatchedCountsNotTheLongestOfThePattern) {
  EXPECT_EQ(taken({entry(1, "refund, a very long phrase that is not there"), entry(2, "refund now")}, {"refund now"}), 2);
}

TEST(CuratedMatch, OneThatIsOffIsPassedOver) {
  CuratedAnswer off = entry(1, "refund", 9);
  off.enabled = false;
  EXPECT_EQ(taken({off, entry(2, "refund")}, {"refund"}), 2);
  EXPECT_EQ(taken({off}, {"refund"}), 0);
}

TEST(CuratedMatch, ALanguageIsThatOfTheVisitor) {
  CuratedAnswer german = entry(1, "refund", 9);
  german.language = "de";
  const std::vector<CuratedAnswer> answers{german, entry(2, "refund")};
  for (const char* language : {"de", "de-AT", "DE-de"}) EXPECT_EQ(taken(answers, {"refund", language}), 1) << language;
  for (const char* language : {"en", "", "den", "d"}) EXPECT_EQ(taken(answers, {"refund", language}), 2) << language;
  german.language = "de-AT";
  EXPECT_EQ(taken({german}, {"refund", "de"}), 0);
  EXPECT_EQ(taken({german}, {"refund", "de-AT"}), 1);
}

TEST(CuratedMatch, APageIsTheVisitorsOrOneAboveIt) {
  CuratedAnswer here = entry(1, "refund", 9);
  here.page_url_prefix = "https://Shop.Example/returns/";
  const std::vector<CuratedAnswer> answers{here, entry(2, "refund")};
  const auto on = [&](const char* page) { return taken(answers, {"refund", "", page}); };
  EXPECT_EQ(on("https://shop.example/returns"), 1);
  EXPECT_EQ(on("https://shop.example/returns/eu?utm_source=x#top"), 1);
  EXPECT_EQ(on("https://shop.example/returnsome"), 2);
  EXPECT_EQ(on("https://shop.example.evil.example/returns"), 2);
  EXPECT_EQ(on("http://shop.example/returns"), 2);
  EXPECT_EQ(on(""), 2);
}

TEST(CuratedMatch, TheBestThatAppliesIsTakenOfMany) {
  std::vector<CuratedAnswer> answers;
  for (std::int64_t id = 1; id <= 10'000; ++id) {
    answers.push_back(entry(id, "refund", id));
    answers.back().page_url_prefix = "https://shop.example/p/" + std::to_string(id);
  }
  EXPECT_EQ(taken(answers, {"refund", "", "https://shop.example/p/17"}), 17);
  EXPECT_EQ(taken(answers, {"refund", "", "https://shop.example/p/0"}), 0);
}

class CuratedCache : public ::testing::Test {
 protected:
  AgentId add(const std::string& name) {
    AgentSettings settings;
    settings.corpora = {corpus_};
    return agents_.add_agent({}, workspace_, name, settings).value().id;
  }
  void save(const AgentId& agent, std::string pattern) {
    const std::vector<CuratedAnswer> answers{{.pattern = std::move(pattern), .answer = "x"}};
    ASSERT_TRUE(agents_.save_curated({}, workspace_, agent, answers).has_value());
  }
  std::size_t reads() { return agents_.curated_faults().calls(); }

  ManualClock clock_{UtcTime{}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryAgentStore agents_{store_, clock_};
  WorkspaceId workspace_ = store_.find_workspace({}, kDefaultWorkspace)->id;
  CorpusId corpus_ = store_.ensure_corpus({}, workspace_, "shop", {"m", 8})->id;
  CuratedMatchers matchers_{agents_};
};

TEST_F(CuratedCache, AnswersAreReadOnceUntilTheyChange) {
  const AgentId agent = add("Shop");
  save(agent, "refund");
  EXPECT_NE(matchers_.of({}, agent).value()->match({"refund"}), nullptr);
  EXPECT_NE(matchers_.of({}, agent).value()->match({"refund"}), nullptr);
  EXPECT_EQ(reads(), 1U);
  const auto before = matchers_.of({}, agent).value();
  save(agent, "shipping");
  EXPECT_NE(matchers_.of({}, agent).value()->match({"shipping"}), nullptr);
  EXPECT_EQ(before->match({"shipping"}), nullptr) << "what was handed out stays as it is";
  EXPECT_EQ(reads(), 2U);
}

TEST_F(CuratedCache, AnUnknownAgentAndAFailedReadAreErrors) {
  EXPECT_EQ(matchers_.of({}, {"agt_nobody"}).error().code, ErrorCode::kNotFound);
  const AgentId agent = add("Shop");
  save(agent, "refund");
  agents_.curated_faults().fail_after(0, ErrorCode::kUnavailable);
  EXPECT_EQ(matchers_.of({}, agent).error().code, ErrorCode::kUnavailable);
}

TEST_F(CuratedCache, ItKeepsTheAgentsThatWereAskedLast) {
  std::vector<AgentId> agents;
  for (std::size_t i = 0; i <= CuratedMatchers::kAgentsKeptMax; ++i) agents.push_back(add("agent " + std::to_string(i)));
  for (std::size_t i = 0; i < CuratedMatchers::kAgentsKeptMax; ++i) ASSERT_TRUE(matchers_.of({}, agents[i]).has_value());
  ASSERT_TRUE(matchers_.of({}, agents[0]).has_value());
  ASSERT_TRUE(matchers_.of({}, agents.back()).has_value());
  const std::size_t before = reads();
  ASSERT_TRUE(matchers_.of({}, agents[0]).has_value());
  EXPECT_EQ(reads(), before) << "asked a moment ago";
  ASSERT_TRUE(matchers_.of({}, agents[1]).has_value());
  EXPECT_EQ(reads(), before + 1) << "asked longest ago";
}

}  // namespace
}  // namespace footnote::answer
