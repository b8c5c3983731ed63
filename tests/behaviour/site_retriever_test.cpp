#include "retrieve/site_retriever.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/memory_cache.h"
#include "fakes/memory_late_scorer.h"
#include "retrieve/page_policy.h"
#include "world.h"

namespace footnote::behaviour {
namespace {

using retrieve::SearchedCorpus;
using retrieve::SiteQuery;
using retrieve::SiteRetrieval;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class SiteRetrieverTest : public testing::Test {
 protected:
  SiteRetrieverTest() { corpora_ = {{world_.corpus().id, kVisitorProfile}}; }

  SiteRetrieval retrieve(const std::string& question, const std::string& page = {}, double threshold = .5) {
    auto found = site_.retrieve({}, {.workspace = world_.workspace(),
                                     .agent = {"agt_1"},
                                     .corpora = corpora_,
                                     .query = question,
                                     .page_url = page,
                                     .threshold = threshold});
    EXPECT_TRUE(found) << found.error().message;
    return found ? *std::move(found) : SiteRetrieval{};
  }
  static std::vector<std::string> keys(const SiteRetrieval& retrieval) {
    std::vector<std::string> out;
    for (const Hit& hit : retrieval.found.hits) out.push_back(hit.document_key);
    return out;
  }
  static std::vector<std::string_view> failed_stages(const SiteRetrieval& retrieval) {
    std::vector<std::string_view> out;
    for (const auto& failure : retrieval.found.failures) out.emplace_back(to_string(failure.stage));
    return out;
  }

  World world_;
  fakes::MemoryCache cache_{world_.clock};
  const retrieve::Retriever retriever_{{world_.embedder, world_.vectors, world_.keywords, world_.store, nullptr, &world_.reranker}};
  const retrieve::SiteRetriever site_{{retriever_, world_.vectors, world_.keywords, world_.store, &cache_, "fake", "judge"}};
  std::vector<SearchedCorpus> corpora_;
};

TEST_F(SiteRetrieverTest, OnlyWhatReachesTheThresholdComesThrough) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  world_.put_document("returns.md", "Lamps are returned within thirty days.");
  const SiteRetrieval found = retrieve("How many days does shipping take?");
  EXPECT_THAT(keys(found), ElementsAre("shipping.md"));
  EXPECT_GE(found.confidence, .5);
  EXPECT_EQ(found.found.cut_counts.at(Fate::kBelowGate), 1u);
  EXPECT_THAT(keys(retrieve("How many days does shipping take?", "", 0)), ElementsAre("shipping.md", "returns.md"));
  const SiteRetrieval none = retrieve("Who painted the Night Watch?");
  EXPECT_THAT(keys(none), IsEmpty());
  EXPECT_EQ(none.confidence, 0);
}

TEST_F(SiteRetrieverTest, TheBoostOfThePageComesBeforeTheThresholdAndDoesNotCountAsConfidence) {
  world_.put_document("lamp.md", "Garden lamp made of steel with days of light.", "https://shop.example/lamp/");
  world_.put_document("shipping.md", "Shipping takes three days.", "https://shop.example/shipping");
  const std::string question = "How many days of light does a bicycle need on northern mountain roads?";
  const SiteRetrieval plain = retrieve(question, "", 0);
  const auto lamp = std::ranges::find(plain.found.hits, "lamp.md", &Hit::document_key);
  ASSERT_NE(lamp, plain.found.hits.end());
  const double probability = lamp->probability;
  // Slightly too low by itself, high enough with the boost.
  const double threshold = probability + .1;
  ASSERT_LT(threshold, 1);
  const auto is_lamp = [](const Hit& hit) { return hit.document_key == "lamp.md"; };
  EXPECT_TRUE(std::ranges::none_of(retrieve(question, "", threshold).found.hits, is_lamp));
  EXPECT_TRUE(std::ranges::none_of(retrieve(question, "https://shop.example/shipping", threshold).found.hits, is_lamp));
  const SiteRetrieval boosted = retrieve(question, "https://shop.example/lamp", threshold);
  const auto found = std::ranges::find_if(boosted.found.hits, is_lamp);
  ASSERT_NE(found, boosted.found.hits.end());
  ASSERT_NE(found->term(Stage::kBoost), nullptr);
  EXPECT_DOUBLE_EQ(found->term(Stage::kBoost)->contribution(), .15);
  EXPECT_DOUBLE_EQ(found->probability, probability);
}

TEST_F(SiteRetrieverTest, EighteenGoToTheJudgeAndSixComeBack) {
  for (int i = 0; i < 30; ++i)
    world_.put_document("d" + std::to_string(i) + ".md", "Shipping takes three days, says page " + std::to_string(i));
  const SiteRetrieval found = retrieve("Shipping takes three days");
  EXPECT_EQ(found.found.hits.size(), 6u);
  for (const Hit& hit : found.found.hits) EXPECT_TRUE(hit.judged);
  std::size_t judged = 0;
  for (const auto& cut : found.found.cut) judged += cut.hit.judged ? 1 : 0;
  EXPECT_LE(judged, 12u);
}

TEST_F(SiteRetrieverTest, AReaderGetsTheBestOfAllWithoutTheJudge) {
  for (int i = 0; i < 30; ++i)
    world_.put_document("d" + std::to_string(i) + ".md", "Shipping takes three days, says page " + std::to_string(i));
  const SiteQuery query{
      .workspace = world_.workspace(), .agent = {"agt_1"}, .corpora = corpora_, .query = "Who painted the Night Watch?", .to_read = true};
  const SiteRetrieval found = site_.retrieve({}, query).value();
  EXPECT_EQ(found.found.hits.size(), 14u) << "the reader decides, not the gate";
  EXPECT_EQ(world_.reranker.faults().calls(), 0u);
  EXPECT_EQ(found.found.vector_search.scanned, 30u);
  const SiteRetrieval again = site_.retrieve({}, query).value();
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.found.vector_search.scanned, 30u) << "the reader's certainty depends on it";
  EXPECT_THAT(keys(retrieve("Who painted the Night Watch?")), IsEmpty()) << "another answerer, another entry";
}

TEST_F(SiteRetrieverTest, OnlyTheAgentsCorporaAreSearchedAndTheirHitsAreComparable) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  const CorpusId own = world_.corpus().id;
  world_.use_corpus("second");
  world_.put_document("second.md", "Shipping of second things takes three days.");
  const CorpusId second = world_.corpus().id;
  world_.use_corpus("secret");
  world_.put_document("secret.md", "Shipping of secret things takes three days.");
  EXPECT_THAT(keys(retrieve("How many days does shipping take?")), ElementsAre("shipping.md"));
  corpora_ = {{own, kVisitorProfile}, {second, kVisitorProfile}};
  EXPECT_THAT(keys(retrieve("How many days does shipping take?")), testing::UnorderedElementsAre("shipping.md", "second.md"));
}

TEST_F(SiteRetrieverTest, TheSecondTimeNothingIsSearched) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  const SiteRetrieval first = retrieve("How many days does shipping take?");
  const std::size_t embedded = world_.embedder.faults().calls();
  const std::size_t judged = world_.reranker.faults().calls();
  const SiteRetrieval second = retrieve("  How many days  does shipping take?");
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(world_.embedder.faults().calls(), embedded);
  EXPECT_EQ(world_.reranker.faults().calls(), judged);
  ASSERT_EQ(second.found.hits.size(), 1u);
  const Hit& a = first.found.hits[0];
  const Hit& b = second.found.hits[0];
  EXPECT_EQ(a.chunk.text, b.chunk.text);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.terms.size(), b.terms.size());
  EXPECT_EQ(a.judged->raw, b.judged->raw);
  EXPECT_EQ(first.confidence, second.confidence);
  EXPECT_EQ(first.found.generation, second.found.generation);
  EXPECT_FALSE(retrieve("How many days does shipping take?", "https://shop.example/").cached) << "another page";
  world_.clock.advance(retrieve::kRetrievalCacheTime);
  EXPECT_FALSE(retrieve("How many days does shipping take?").cached);
}

TEST_F(SiteRetrieverTest, AChangeOfTheCorpusIsSeenAtOnceAndDropsWhatWasKept) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  retrieve("How many days does shipping take?");
  retrieve("Who painted the Night Watch?");
  EXPECT_EQ(cache_.size(), 2u);
  world_.put_document("more.md", "Shipping of sofas takes nine days.");
  EXPECT_FALSE(retrieve("How many days does shipping take?").cached);
  EXPECT_EQ(cache_.size(), 1u) << "the other entry went";
  world_.delete_document("shipping.md");
  EXPECT_THAT(keys(retrieve("How many days does shipping take?")), ElementsAre("more.md"));
}

TEST_F(SiteRetrieverTest, WithoutTheEmbedderWordsAreSearched) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  world_.embedder.faults().fail_after(0, ErrorCode::kUnavailable);
  const SiteRetrieval found = retrieve("How many days does shipping take?");
  EXPECT_THAT(keys(found), ElementsAre("shipping.md"));
  EXPECT_THAT(failed_stages(found), ElementsAre("embed"));
  EXPECT_GT(found.confidence, .5) << "what is not known does not count against it";
  world_.embedder.faults().heal();
  EXPECT_FALSE(retrieve("How many days does shipping take?").cached) << "what had to do without a stage is not kept";
}

TEST_F(SiteRetrieverTest, WithoutTheJudgeTheOrderBeforeHolds) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  world_.reranker.faults().fail_after(0, ErrorCode::kDeadlineExceeded);
  const SiteRetrieval found = retrieve("How many days does shipping take?");
  EXPECT_THAT(keys(found), ElementsAre("shipping.md"));
  EXPECT_THAT(failed_stages(found), ElementsAre("judge"));
}

TEST_F(SiteRetrieverTest, WithoutOneIndexTheOtherIsSearched) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  world_.vectors.faults().fail_after(0, ErrorCode::kUnavailable);
  EXPECT_THAT(keys(retrieve("How many days does shipping take?")), ElementsAre("shipping.md"));
  world_.vectors.faults().heal();
  world_.keywords.faults().fail_after(0, ErrorCode::kUnavailable);
  const SiteRetrieval found = retrieve("How many days does shipping take?");
  EXPECT_THAT(failed_stages(found), ElementsAre("keyword"));
  world_.vectors.faults().fail_after(0, ErrorCode::kUnavailable);
  const SiteRetrieval none = retrieve("How many days does shipping take?");
  EXPECT_THAT(keys(none), IsEmpty());
  EXPECT_FALSE(none.found.failures.empty());
}

TEST_F(SiteRetrieverTest, ACallerThatLeavesIsNoFailedStage) {
  world_.put_document("shipping.md", "Shipping takes three days.");
  std::stop_source stop;
  stop.request_stop();
  world_.embedder.faults().fail_after(0, ErrorCode::kCancelled);
  const auto found = site_.retrieve(
      {.stop = stop.get_token()},
      {.workspace = world_.workspace(), .agent = {"agt_1"}, .corpora = corpora_, .query = "How many days does shipping take?"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kCancelled);
}

TEST(RetrievalCacheKey, NamesTheAgentAndDiffersByEveryPart) {
  const retrieve::RetrievalKey key{.workspace = {1},
                                   .agent = {"agt_1"},
                                   .model = "m",
                                   .judge = "j",
                                   .corpora = {{{1}, 5, "c"}},
                                   .threshold = .5,
                                   .query = "a",
                                   .page_url = "bc"};
  EXPECT_THAT(cache_key(key), StartsWith("rag:retrieve:agt_1:"));
  std::set<std::string> keys{cache_key(key)};
  const auto differs = [&](auto change) {
    retrieve::RetrievalKey other = key;
    change(other);
    return keys.insert(cache_key(other)).second;
  };
  using Key = retrieve::RetrievalKey;
  EXPECT_TRUE(differs([](Key& k) { k.workspace = {2}; }));
  EXPECT_TRUE(differs([](Key& k) { k.agent = {"agt_2"}; }));
  EXPECT_TRUE(differs([](Key& k) { k.model = "n"; }));
  EXPECT_TRUE(differs([](Key& k) { k.judge = ""; }));
  EXPECT_TRUE(differs([](Key& k) { k.corpora[0].generation = 6; }));
  EXPECT_TRUE(differs([](Key& k) { k.corpora[0].calibration = "d"; }));
  EXPECT_TRUE(differs([](Key& k) { k.corpora.push_back({{2}, 1, ""}); }));
  EXPECT_TRUE(differs([](Key& k) { k.threshold = .6; }));
  EXPECT_TRUE(differs([](Key& k) { k.query = "ab", k.page_url = "c"; })) << "where one part ends and the next begins";
  EXPECT_TRUE(differs([](Key& k) { k.page_url = ""; }));
}

TEST(RetrievalBytes, ReadBackAsTheyWereAndNothingElseReads) {
  retrieve::CachedRetrieval kept{
      .generation = 7, .candidates = 40, .confidence = .8, .gate = {.grounded = true, .evidence = 40}, .hits = {}};
  retrieve::CachedHit& hit = kept.hits.emplace_back();
  hit.corpus = {3};
  hit.scores.chunk.id = {99};
  hit.scores.terms = {{Stage::kVector, .5, .7, .5}, {Stage::kBoost, 1, 1, .15}};
  hit.scores.judged = Judgement{.raw = 3, .calibrated = .9, .answer = FoundAnswer{{2, 9}, 1.5, .8}};
  const std::string bytes = to_bytes(kept);
  const auto read = retrieve::from_bytes(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_bytes(*read), bytes);
  EXPECT_EQ(read->hits.at(0).scores.judged->answer->range, (TextRange{2, 9}));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(retrieve::from_bytes(std::string_view(bytes).substr(0, size)));
  EXPECT_FALSE(retrieve::from_bytes(bytes + "x"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(0xff);
    (void)retrieve::from_bytes(changed);  // must not crash, whatever it parses to
  }
}

}  // namespace
}  // namespace footnote::behaviour
