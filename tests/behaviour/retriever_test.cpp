#include "retrieve/retriever.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_reranker.h"
#include "fakes/memory_late_scorer.h"
#include "retrieve/score_model.h"
#include "world.h"

namespace footnote::behaviour {
namespace {

using retrieve::Recall;
using retrieve::Retrieval;
using retrieve::RetrieveOptions;
using testing::ElementsAre;

class RetrieverTest : public testing::Test {
 protected:
  Result<Retrieval> retrieve(std::string_view question, const RetrieveOptions& options = {}) {
    const retrieve::Retriever retriever({world_.embedder, world_.vectors, world_.keywords, world_.store});
    return retriever.retrieve({}, world_.corpus().id, question, options);
  }
  std::vector<std::string> keys(std::string_view question, const RetrieveOptions& options = {}) {
    const auto retrieval = retrieve(question, options);
    EXPECT_TRUE(retrieval) << retrieval.error().message;
    std::vector<std::string> out;
    if (!retrieval) return out;
    for (const Hit& hit : retrieval->hits) out.push_back(hit.document_key);
    return out;
  }

  World world_;
};

TEST_F(RetrieverTest, TheScoreIsExplainedByItsStages) {
  world_.put_document("shipping.md", "# Shipping\n\nShipping takes three days.");
  world_.put_document("returns.md", "# Returns\n\nReturns take days.");
  const auto retrieval = retrieve("How many days does shipping take?", {.profile = kKnowledgeBaseProfile}).value();
  ASSERT_EQ(retrieval.hits.size(), 2u);
  EXPECT_EQ(retrieval.hits[0].document_key, "shipping.md");
  for (const Hit& hit : retrieval.hits) {
    double sum = 0;
    for (const StageScore& term : hit.terms) sum += term.contribution();
    EXPECT_DOUBLE_EQ(sum, hit.score);
    ASSERT_NE(hit.term(Stage::kVector), nullptr);
    EXPECT_EQ(hit.term(Stage::kVector)->raw, hit.cosine);
    EXPECT_NE(hit.term(Stage::kKeyword), nullptr);
    EXPECT_NE(hit.term(Stage::kHeading), nullptr);
  }
  EXPECT_EQ(retrieval.hits[0].term(Stage::kHeading)->raw > retrieval.hits[1].term(Stage::kHeading)->raw, true);
}

TEST_F(RetrieverTest, WhatIsDoneOnAnotherThreadChangesNothing) {
  for (int i = 0; i < 40; ++i) world_.put_document(fmt::format("d{}.md", i), fmt::format("Shipping number {} takes {} days.", i, i % 7));
  const fakes::MemoryLateScorer late(world_.store);
  HelperThreads helpers(2);
  retrieve::Retriever::Ports ports{world_.embedder, world_.vectors, world_.keywords, world_.store, &late};
  const retrieve::Retriever alone(ports);
  ports.helpers = &helpers;
  const retrieve::Retriever shared(ports);
  for (const Recall recall : {Recall::kBoth, Recall::kVectorOnly, Recall::kKeywordOnly, Recall::kLateOnly}) {
    const RetrieveOptions options{.recall = recall};
    const auto expected = alone.retrieve({}, world_.corpus().id, "shipping of number 3 takes days", options).value();
    const auto found = shared.retrieve({}, world_.corpus().id, "shipping of number 3 takes days", options).value();
    ASSERT_EQ(found.hits.size(), expected.hits.size());
    EXPECT_GT(found.candidates, 30U) << "enough to be fetched in halves";
    for (std::size_t i = 0; i < found.hits.size(); ++i) {
      EXPECT_EQ(found.hits[i].chunk.id, expected.hits[i].chunk.id);
      EXPECT_EQ(found.hits[i].chunk.text, expected.hits[i].chunk.text);
      EXPECT_EQ(found.hits[i].score, expected.hits[i].score);
      EXPECT_EQ(found.hits[i].coverage, expected.hits[i].coverage);
    }
    EXPECT_EQ(found.cut_counts, expected.cut_counts);
    ASSERT_EQ(found.timings.size(), expected.timings.size());
    for (std::size_t i = 0; i < found.timings.size(); ++i) EXPECT_EQ(found.timings[i].stage, expected.timings[i].stage);
  }
}

TEST_F(RetrieverTest, TokensAreComparedAndTheirTermIsKept) {
  world_.put_document("all.md", "Alpha beta gamma delta.");
  world_.put_document("one.md", "Alpha alpha alpha alpha.");
  const fakes::MemoryLateScorer late(world_.store);
  const retrieve::Retriever retriever({world_.embedder, world_.vectors, world_.keywords, world_.store, &late});
  const auto retrieval = retriever.retrieve({}, world_.corpus().id, "alpha beta gamma delta", {}).value();
  ASSERT_EQ(retrieval.hits.size(), 2u);
  EXPECT_EQ(retrieval.hits[0].document_key, "all.md");
  const StageScore* term = retrieval.hits[0].term(Stage::kLate);
  ASSERT_NE(term, nullptr);
  EXPECT_NEAR(term->raw, 1, 0.01);
  EXPECT_LT(retrieval.hits[1].term(Stage::kLate)->raw, 0.6);
  double sum = 0;
  for (const StageScore& each : retrieval.hits[0].terms) sum += each.contribution();
  EXPECT_DOUBLE_EQ(sum, retrieval.hits[0].score);
}

TEST_F(RetrieverTest, OnlyTheBestCandidatesAreComparedAndGoOn) {
  for (char name = 'a'; name < 'f'; ++name)
    world_.put_document(std::string(1, name) + ".md",
                        "Alpha beta " + std::string(static_cast<std::size_t>(name - 'a' + 1) * 3, name) + ".");
  const fakes::MemoryLateScorer late(world_.store);
  const retrieve::Retriever retriever({world_.embedder, world_.vectors, world_.keywords, world_.store, &late});
  RetrieveOptions options;
  options.profile.late = 2;
  const auto retrieval = retriever.retrieve({}, world_.corpus().id, "alpha beta", options).value();
  ASSERT_EQ(retrieval.hits.size(), 2u);
  for (const Hit& hit : retrieval.hits) EXPECT_NE(hit.term(Stage::kLate), nullptr);
  EXPECT_EQ(retrieval.cut_counts.at(Fate::kFuseLimit), 3u) << "the others are out of the running, and said to be";
}

TEST_F(RetrieverTest, TheJudgesNumberJoinsTheSumOfThoseThatItRead) {
  world_.put_document("all.md", "Alpha beta gamma delta, and much more besides: rivers, towns, boats, maps, bread and keys.");
  world_.put_document("one.md", "Alpha alpha alpha alpha.");
  world_.put_document("two.md", "Alpha beta beta.");
  fakes::FakeReranker judge;
  const retrieve::Retriever retriever(
      {.embedder = world_.embedder, .vectors = world_.vectors, .keywords = world_.keywords, .chunks = world_.store, .judge = &judge});
  RetrieveOptions options;
  options.profile.weights.judge = 5;
  const auto judged = retriever.retrieve({}, world_.corpus().id, "alpha beta gamma delta", options).value();
  ASSERT_EQ(judged.hits.size(), 3u);
  EXPECT_EQ(judged.hits[0].document_key, "all.md") << "the one with all words, as the judge sees it";
  for (const Hit& hit : judged.hits) {
    ASSERT_NE(hit.term(Stage::kJudge), nullptr);
    EXPECT_EQ(hit.term(Stage::kJudge)->raw, hit.judged->raw);
    double sum = 0;
    for (const StageScore& term : hit.terms) sum += term.contribution();
    EXPECT_DOUBLE_EQ(sum, hit.score);
    EXPECT_NE(hit.term(Stage::kVector), nullptr) << "it never replaces the others";
  }
  options.profile.judged = 0;
  const auto unread = retriever.retrieve({}, world_.corpus().id, "alpha beta gamma delta", options).value();
  EXPECT_EQ(unread.hits[0].term(Stage::kJudge), nullptr);
  EXPECT_FALSE(unread.hits[0].judged);
}

TEST_F(RetrieverTest, WhatTheJudgeDidNotReadCountsAsItsMean) {
  for (char name = 'a'; name < 'f'; ++name) {
    world_.put_document(std::string(1, name) + ".md", "Alpha " + std::string(static_cast<std::size_t>(name - 'a' + 1) * 3, name) + ".");
  }
  fakes::FakeReranker judge;
  const retrieve::Retriever retriever(
      {.embedder = world_.embedder, .vectors = world_.vectors, .keywords = world_.keywords, .chunks = world_.store, .judge = &judge});
  RetrieveOptions options;
  options.profile.judged = 2;
  const auto retrieval = retriever.retrieve({}, world_.corpus().id, "alpha aaa", options).value();
  ASSERT_EQ(retrieval.hits.size(), 5u);
  EXPECT_EQ(std::ranges::count_if(retrieval.hits, [](const Hit& hit) { return hit.judged.has_value(); }), 2);
  double low = 1, high = 0;
  for (const Hit& hit : retrieval.hits) {
    if (!hit.judged) continue;
    low = std::min(low, hit.term(Stage::kJudge)->normalised);
    high = std::max(high, hit.term(Stage::kJudge)->normalised);
  }
  for (const Hit& hit : retrieval.hits) {
    if (hit.judged) continue;
    EXPECT_DOUBLE_EQ(hit.term(Stage::kJudge)->normalised, (low + high) / 2);
  }
}

TEST_F(RetrieverTest, WithoutAnAnswerOfTheJudgeTheOrderStaysAndTheFailureIsSaid) {
  world_.put_document("faq.md", "Shipping takes three days.");
  fakes::FakeReranker judge;
  judge.faults().fail_after(0, ErrorCode::kUnavailable);
  const retrieve::Retriever retriever(
      {.embedder = world_.embedder, .vectors = world_.vectors, .keywords = world_.keywords, .chunks = world_.store, .judge = &judge});
  const auto retrieval = retriever.retrieve({}, world_.corpus().id, "shipping days", {}).value();
  ASSERT_EQ(retrieval.hits.size(), 1u);
  EXPECT_EQ(retrieval.hits[0].term(Stage::kJudge), nullptr);
  ASSERT_EQ(retrieval.failures.size(), 1u);
  EXPECT_EQ(retrieval.failures[0].stage, TurnStage::kJudge);
  EXPECT_EQ(retrieval.failures[0].error.code, ErrorCode::kUnavailable);
  judge.faults().heal();
  EXPECT_TRUE(retriever.retrieve({}, world_.corpus().id, "shipping days", {}).value().failures.empty()) << "and the next has it again";
}

/// A reranker of another server that gives every passage the same score.
class SameScore final : public Reranker {
 public:
  explicit SameScore(double score) : score_(score) {}
  Result<std::vector<Judgement>> rerank(const CallContext&, std::string_view, std::span<const std::string_view> passages) override {
    return std::vector<Judgement>(passages.size(), Judgement{.raw = score_, .calibrated = score_});
  }

 private:
  const double score_;
};

TEST_F(RetrieverTest, ScoresOfAnyRangeOfAnotherServersRerankerKeepTheGate) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  world_.put_document("lamp.md", "The trail lamp costs 49 euros.");
  const fakes::MemoryLateScorer late(world_.store);
  for (const double score : {0.0001, 0.3, 0.9999}) {
    SameScore judge(score);
    const retrieve::Retriever retriever({.embedder = world_.embedder,
                                         .vectors = world_.vectors,
                                         .keywords = world_.keywords,
                                         .chunks = world_.store,
                                         .late = &late,
                                         .judge = &judge});
    RetrieveOptions options;
    options.profile.gate = retrieve::policy_for(retrieve::kBuiltInEmbedder, retrieve::kBuiltInEmbedder, "cohere");
    const auto foreign = retriever.retrieve({}, world_.corpus().id, "Who painted the Night Watch?", options).value();
    EXPECT_FALSE(foreign.gate.grounded) << score;
    EXPECT_FALSE(foreign.gate.calibrated);
    EXPECT_TRUE(retriever.retrieve({}, world_.corpus().id, "How many days does shipping take?", options)->gate.grounded) << score;
  }
}

TEST_F(RetrieverTest, HighCosinesOfAnotherServersEmbedderDoNotOpenTheGate) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  RetrieveOptions options;
  options.profile.gate = retrieve::policy_for("text-embedding-3-small", "", "");
  world_.embedder.add_synonym("night", "three");  // similar by its vector only
  world_.embedder.add_synonym("watch", "days");
  EXPECT_GT(retrieve("night watch", options)->gate.cosine, 0.6);
  EXPECT_FALSE(retrieve("night watch", options)->gate.grounded);
  EXPECT_TRUE(retrieve("shipping days", options)->gate.grounded) << "words still count";
}

TEST_F(RetrieverTest, AQuestionInALanguageThatIsNotCoveredIsTranslatedAndSearchedAgain) {
  world_.put_document("faq.md", "Shipping to all countries takes three days, and the parcel is insured.");
  world_.embedder.speak({"en"});
  std::size_t translations = 0;
  Result<std::string> translated = "How many days does shipping take?";
  const retrieve::Translate translate = [&](const CallContext&, std::string_view, std::string_view language) {
    EXPECT_EQ(language, retrieve::kTranslationLanguage);
    ++translations;
    return translated;
  };
  const retrieve::Retriever retriever({.embedder = world_.embedder,
                                       .vectors = world_.vectors,
                                       .keywords = world_.keywords,
                                       .chunks = world_.store,
                                       .translate = translate});
  const auto found = retriever.retrieve({}, world_.corpus().id, "Wie lange dauert der Versand nach Schweden?", {}).value();
  EXPECT_TRUE(found.gate.grounded);
  EXPECT_FALSE(found.language_not_covered);
  EXPECT_EQ(found.foreign_language, "de");
  EXPECT_EQ(found.translation, "How many days does shipping take?");
  ASSERT_TRUE(retriever.retrieve({}, world_.corpus().id, "How many days does shipping take?", {}));
  EXPECT_EQ(translations, 1U) << "a question that is covered is not translated";
  translated = fail(ErrorCode::kUnavailable, "no model");
  const auto failed = retriever.retrieve({}, world_.corpus().id, "Wie lange dauert der Versand nach Schweden?", {}).value();
  EXPECT_TRUE(failed.language_not_covered);
  EXPECT_FALSE(failed.gate.grounded);
  EXPECT_EQ(failed.failures.size(), 1U);
}

TEST_F(RetrieverTest, OneSideAloneMeasuresThatSide) {
  world_.embedder.add_synonym("vacation", "holiday");
  world_.put_document("meaning.md", "Holiday is good.");
  world_.put_document("word.md", "The vacation rental agency of the old town sells keys, maps, boats and bread.");
  EXPECT_EQ(keys("vacation", {.recall = Recall::kVectorOnly}).at(0), "meaning.md");
  EXPECT_THAT(keys("vacation", {.recall = Recall::kKeywordOnly}), ElementsAre("word.md"));
  const auto retrieval = retrieve("vacation", {.recall = Recall::kKeywordOnly}).value();
  EXPECT_GT(retrieval.hits[0].cosine, 0) << "the gate never meets a hole: the cosine is computed where recall had none";
}

TEST_F(RetrieverTest, AFilterLetsNothingElseThrough) {
  world_.put_document("a.md", "Shipping takes three days.");
  world_.put_document("b.md", "Shipping takes nine days.");
  EXPECT_THAT(keys("shipping days", {.filter = {.keys = {"b.md"}}}), ElementsAre("b.md"));
  EXPECT_THAT(keys("shipping days", {.filter = {.keys = {"c.md"}}}), ElementsAre());
}

TEST_F(RetrieverTest, AnIndexThatIsAheadIsReadAtTheGenerationOfTheOther) {
  world_.put_document("faq.md", "Shipping takes three days.");
  const Corpus& corpus = world_.corpus();
  // The store and the vector index advance; the keyword index lags behind.
  const std::string_view text[] = {"Shipping takes nine days."};
  const auto vector = world_.embedder.embed({}, text, {}).value().at(0).windows.at(0).values;
  DocumentDraft draft{.key = "faq.md", .content_hash = "new", .text = std::string(text[0])};
  draft.chunks.push_back({.text = std::string(text[0]), .content_hash = "new", .range = {0, text[0].size()}, .vectors = {vector}});
  ASSERT_TRUE(world_.store.commit({}, corpus.id, std::vector{draft}, {}));
  ASSERT_TRUE(world_.vectors.apply({}, corpus.id, world_.store.changes({}, corpus.id, 1, 100).value()));

  const auto retrieval = retrieve("shipping days").value();
  EXPECT_EQ(retrieval.generation, 1);
  ASSERT_EQ(retrieval.hits.size(), 1u);
  EXPECT_EQ(retrieval.hits[0].chunk.text, "Shipping takes three days.") << "the old version whole, and nothing of the new";
}

TEST_F(RetrieverTest, APassageThatIsGoneFromTheStoreIsLeftOut) {
  world_.put_document("a.md", "Shipping takes three days.");
  world_.put_document("b.md", "Shipping takes nine days.");
  // Deleted and purged without updating the indexes.
  const std::vector<std::string> deleted = {"a.md"};
  ASSERT_TRUE(world_.store.commit({}, world_.corpus().id, {}, deleted));
  world_.clock.advance(std::chrono::hours{1});
  ASSERT_TRUE(world_.store.purge({}, world_.corpus().id, world_.clock.now()));
  EXPECT_THAT(keys("shipping days"), ElementsAre("b.md"));
  const auto retrieval = retrieve("shipping days").value();
  ASSERT_EQ(retrieval.cut.size(), 1u);
  EXPECT_EQ(retrieval.cut[0].fate, Fate::kGone);
  EXPECT_TRUE(retrieval.cut[0].hit.chunk.id);
}

TEST_F(RetrieverTest, EveryCandidateIsAHitOrWasCutForAReason) {
  for (int i = 0; i < 60; ++i) world_.put_document(fmt::format("{:02}.md", i), fmt::format("Shipping takes three days, note {}.", i));
  const auto retrieval = retrieve("shipping days").value();
  std::size_t cut = 0;
  for (const auto& [fate, count] : retrieval.cut_counts) cut += count;
  EXPECT_EQ(retrieval.candidates, 60u);
  EXPECT_EQ(retrieval.hits.size() + cut, 60u);
  EXPECT_EQ(retrieval.cut_counts.at(Fate::kTopLimit), 24u);
  EXPECT_EQ(retrieval.cut_counts.at(Fate::kFuseLimit), 28u);
  EXPECT_EQ(retrieval.cut.size(), 2 * retrieve::kCutNamedMax) << "the best of each are named";
  for (const auto& candidate : retrieval.cut) {
    EXPECT_NE(candidate.hit.document_key, "");
    EXPECT_EQ(candidate.hit.chunk.text, "") << "texts are kept of hits alone";
    EXPECT_NE(candidate.hit.term(Stage::kVector), nullptr);
  }
}

TEST_F(RetrieverTest, ErrorsOfThePortsComeThrough) {
  world_.put_document("a.md", "Shipping takes three days.");
  world_.vectors.faults().fail_after(0, ErrorCode::kUnavailable);
  EXPECT_EQ(retrieve("shipping").error().code, ErrorCode::kUnavailable);
  world_.vectors.faults().heal();
  world_.keywords.faults().fail_after(0, ErrorCode::kResourceExhausted);
  EXPECT_EQ(retrieve("shipping").error().code, ErrorCode::kResourceExhausted);
}

TEST_F(RetrieverTest, TheSameQuestionOnTheSameGenerationGivesTheSame) {
  for (char name = 'a'; name < 'k'; ++name)
    world_.put_document(std::string(1, name) + ".md", std::string("Shipping takes three days, ") + name + name);
  const auto first = retrieve("How long does shipping take?").value();
  for (int i = 0; i < 5; ++i) {
    const auto again = retrieve("How long does shipping take?").value();
    ASSERT_EQ(again.hits.size(), first.hits.size());
    for (std::size_t n = 0; n < first.hits.size(); ++n) {
      EXPECT_EQ(again.hits[n].chunk.id, first.hits[n].chunk.id);
      EXPECT_EQ(again.hits[n].score, first.hits[n].score);
    }
  }
}

}  // namespace
}  // namespace footnote::behaviour
