#include "proxy/source_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/memory_keyword_index.h"
#include "fakes/memory_store.h"
#include "fakes/memory_vector_store.h"

namespace footnote::proxy {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;

std::vector<std::string> urls_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> out;
  for (const Candidate& candidate : candidates) out.push_back(candidate.url);
  return out;
}

TEST(OnePerUrl, KeepsTheMostSimilarOfEachAddress) {
  const auto kept = one_per_url({{"a", "", "1", 0.2, {}}, {"b", "", "2", 0.9, {}}, {"a", "", "3", 0.8, {}}, {"a", "", "4", 0.1, {}}});
  EXPECT_THAT(urls_of(kept), ElementsAre("a", "b"));
  EXPECT_EQ(kept[0].text, "3");
}

TEST(OnePerUrl, WithoutAddressOrTextThereIsNoSource) {
  EXPECT_THAT(one_per_url({{"", "", "text", 1, {}}, {"u", "", "", 1, {}}}), IsEmpty());
}

/// A finder that searches another server instead of our store.
class SourceFinderTest : public ::testing::Test {
 protected:
  Result<Found> find(Policy policy) {
    const SearchElsewhere elsewhere = [&](const CallContext&, std::string_view collection, std::span<const float>,
                                          std::size_t limit) -> Result<std::vector<Candidate>> {
      asked_ = {std::string(collection), limit};
      if (failure_) return std::unexpected(*failure_);
      return candidates_;
    };
    const retrieve::Retriever retriever({embedder_, vectors_, keywords_, store_});
    const retrieve::AskedCorpora corpora(store_, embedder_, {});
    const SourceFinder finder(
        {.retriever = retriever, .catalog = store_, .corpora = corpora, .points = store_, .embedder = embedder_, .elsewhere = elsewhere},
        policy);
    return finder.find({}, {1}, resolve_model(policy, "rag/x"), "question");
  }

  fakes::FakeEmbedder embedder_;
  SystemClock clock_;
  fakes::MemoryStore store_{clock_};
  fakes::MemoryVectorStore vectors_;
  fakes::MemoryKeywordIndex keywords_;
  std::vector<Candidate> candidates_;
  std::optional<Error> failure_;
  std::pair<std::string, std::size_t> asked_;
};

TEST_F(SourceFinderTest, FetchesTopKNeighboursOfWhichMmrPicks) {
  for (int i = 0; i < 9; ++i) candidates_.push_back({fmt::format("u{}", i), "t", "text", 1.0 - i * 0.1, {}});
  const auto found = find({.top_k = 9, .lambda = 0, .sources_max = 3});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(asked_.first, "memory");
  EXPECT_EQ(asked_.second, 9u);
  EXPECT_THAT(found->sources, SizeIs(3));
  EXPECT_EQ(found->sources[0].url, "u0");
  EXPECT_TRUE(found->grounded);
  EXPECT_THAT(find({.top_k = 9, .sources_max = 2})->sources, SizeIs(2));
}

TEST_F(SourceFinderTest, MmrNeverBringsInWhatTheGateWouldRefuse) {
  for (int i = 0; i < 4; ++i) candidates_.push_back({fmt::format("u{}", i), "t", "text", 1.0 - i * 0.1, {}, 0, i >= 2});
  EXPECT_THAT(find({.top_k = 4, .lambda = 1, .sources_max = 3})->sources, SizeIs(2)) << "u2 and u3 are far from the others, but refused";
  EXPECT_THAT(find({.top_k = 4, .sources_max = 4})->sources, SizeIs(4)) << "without a choice every neighbour is a source";
}

TEST_F(SourceFinderTest, NothingFoundIsNoError) {
  const auto found = find({});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->sources, IsEmpty());
  EXPECT_FALSE(found->grounded);
}

TEST_F(SourceFinderTest, AStoreThatFailsIs) {
  failure_ = Error{ErrorCode::kUnavailable, "away", {}};
  EXPECT_EQ(find({}).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace footnote::proxy
