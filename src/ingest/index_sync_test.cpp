#include "ingest/index_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <fmt/format.h>

#include "fakes/memory_keyword_index.h"
#include "fakes/memory_store.h"

namespace footnote::ingest {
namespace {

using testing::ElementsAre;

class IndexSyncTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& text) {
    DocumentDraft draft{.key = key, .content_hash = text, .text = text};
    draft.chunks.push_back({.text = text, .content_hash = text, .range = {0, text.size()}, .vectors = {{1, 0, 0, 0}}});
    ASSERT_TRUE(store_.commit({}, corpus_, std::span(&draft, 1), {}).has_value());
  }

  ManualClock clock_{UtcTime{std::chrono::hours{100}}};
  fakes::MemoryStore store_{clock_};
  const CorpusId corpus_ = store_.ensure_corpus({}, store_.find_workspace({}, "default")->id, "docs", {"fake", 4})->id;
  fakes::MemoryKeywordIndex one_;
  fakes::MemoryKeywordIndex other_;
  IndexSync sync_{store_, {&one_, &other_}, clock_};
};

TEST_F(IndexSyncTest, BothFollowTheStore) {
  EXPECT_EQ(sync_.sync({}, corpus_), 0);
  put("a", "one");
  put("b", "two");
  put("a", "three");
  EXPECT_EQ(sync_.sync({}, corpus_), 3);
  EXPECT_THAT(one_.texts(corpus_), ElementsAre("three", "two"));
  EXPECT_THAT(other_.texts(corpus_), ElementsAre("three", "two"));
  const std::size_t applies = one_.apply_faults().calls();
  EXPECT_EQ(sync_.sync({}, corpus_), 3);
  EXPECT_EQ(one_.apply_faults().calls(), applies);
}

TEST_F(IndexSyncTest, OneThatIsBehindCatchesUpAlone) {
  put("a", "one");
  ASSERT_TRUE(sync_.sync({}, corpus_).has_value());
  ASSERT_TRUE(other_.drop({}, corpus_).has_value());
  put("b", "two");
  EXPECT_EQ(sync_.sync({}, corpus_), 2);
  EXPECT_EQ(other_.texts(corpus_), one_.texts(corpus_));
  EXPECT_EQ(one_.drops(), 0U);
}

TEST_F(IndexSyncTest, ManyRowsComeInStretches) {
  for (std::size_t i = 0; i < kSyncRowsMax + 3; ++i) put(fmt::format("d{}", i), "x");
  EXPECT_EQ(sync_.sync({}, corpus_), static_cast<Generation>(kSyncRowsMax + 3));
  EXPECT_EQ(one_.apply_faults().calls(), 2U);
}

TEST_F(IndexSyncTest, WhatDoesNotFitIsRebuilt) {
  put("a", "one");
  put("a", "two");
  one_.apply_faults().fail_after(0, ErrorCode::kFailedPrecondition, 1);
  EXPECT_EQ(sync_.sync({}, corpus_), 2);
  EXPECT_EQ(one_.drops(), 1U);
  EXPECT_THAT(one_.texts(corpus_), ElementsAre("two"));
  one_.apply_faults().fail_after(0, ErrorCode::kFailedPrecondition);
  put("b", "three");
  EXPECT_EQ(sync_.sync({}, corpus_).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(IndexSyncTest, AnIndexThatIsAheadOfTheStoreIsRebuilt) {
  put("a", "one");
  ASSERT_TRUE(one_.apply({}, corpus_, {0, 9, {}, {}}).has_value());
  EXPECT_EQ(sync_.sync({}, corpus_), 1);
  EXPECT_THAT(one_.texts(corpus_), ElementsAre("one"));
}

TEST_F(IndexSyncTest, PurgeForgetsWhatDiedBeforeTheGrace) {
  put("a", "one");
  put("a", "two");
  clock_.advance(kPurgeGrace);
  EXPECT_EQ(sync_.purge({}, corpus_), 0) << "the grace is not over";
  EXPECT_TRUE(one_.search({}, {.corpus = corpus_, .generation = 1, .text = "one", .limit = 1}).has_value());
  clock_.advance(std::chrono::milliseconds{1});
  EXPECT_EQ(sync_.purge({}, corpus_), 2);
  EXPECT_FALSE(one_.search({}, {.corpus = corpus_, .generation = 1, .text = "one", .limit = 1}).has_value()) << "it is forgotten";
  EXPECT_THAT(one_.texts(corpus_), ElementsAre("two"));
  EXPECT_EQ(sync_.purge({}, corpus_), 0);
}

TEST_F(IndexSyncTest, AnIndexOlderThanThePurgeIsRebuilt) {
  put("a", "one");
  ASSERT_TRUE(sync_.sync({}, corpus_).has_value());
  put("a", "two");
  put("a", "three");
  clock_.advance(std::chrono::milliseconds{1});
  ASSERT_EQ(store_.purge({}, corpus_, clock_.now()), 3);
  store_.lose_purged_deaths(corpus_);
  EXPECT_EQ(sync_.sync({}, corpus_), 3);
  EXPECT_EQ(one_.drops(), 1U);
  EXPECT_THAT(one_.texts(corpus_), ElementsAre("three"));
}

TEST_F(IndexSyncTest, ConcurrentSyncsDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        put(fmt::format("{}-{}", t, i), "x");
        EXPECT_TRUE(sync_.sync({}, corpus_).has_value());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(sync_.sync({}, corpus_), 200);
  EXPECT_EQ(one_.texts(corpus_).size(), 200u);
  EXPECT_EQ(one_.drops(), 0U);
}

}  // namespace
}  // namespace footnote::ingest
