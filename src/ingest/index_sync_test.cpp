#include "ingest/index_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <fmt/format.h>

#include "ingest/fakes_test.h"

namespace footnote::ingest {
namespace {

using testing::ElementsAre;

constexpr CorpusId kCorpus{1};

class IndexSyncTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& text) {
    DocumentDraft draft{.key = key, .content_hash = text, .text = text};
    draft.chunks.push_back({.text = text, .content_hash = text, .range = {0, text.size()}, .vectors = {{1, 0, 0, 0}}});
    ASSERT_TRUE(store_.commit({}, kCorpus, std::span(&draft, 1), {}).has_value());
  }

  test::FakeStore store_;
  test::FakeIndex vector_;
  test::FakeIndex keyword_;
  ManualClock clock_{UtcTime{std::chrono::hours{100}}};
  IndexSync sync_{store_, {&vector_, &keyword_}, clock_};
};

TEST_F(IndexSyncTest, BothFollowTheStore) {
  EXPECT_EQ(sync_.sync({}, kCorpus), 0);
  put("a", "one");
  put("b", "two");
  put("a", "three");
  EXPECT_EQ(sync_.sync({}, kCorpus), 3);
  EXPECT_THAT(vector_.live(), ElementsAre("three", "two"));
  EXPECT_THAT(keyword_.live(), ElementsAre("three", "two"));
  const int applies = vector_.applies;
  EXPECT_EQ(sync_.sync({}, kCorpus), 3);
  EXPECT_EQ(vector_.applies, applies);
}

TEST_F(IndexSyncTest, OneThatIsBehindCatchesUpAlone) {
  put("a", "one");
  ASSERT_TRUE(sync_.sync({}, kCorpus).has_value());
  ASSERT_TRUE(keyword_.drop({}, kCorpus).has_value());
  put("b", "two");
  EXPECT_EQ(sync_.sync({}, kCorpus), 2);
  EXPECT_EQ(keyword_.live(), vector_.live());
  EXPECT_EQ(vector_.drops, 0);
}

TEST_F(IndexSyncTest, ManyRowsComeInStretches) {
  for (std::size_t i = 0; i < kSyncRowsMax + 3; ++i) put(fmt::format("d{}", i), "x");
  EXPECT_EQ(sync_.sync({}, kCorpus), static_cast<Generation>(kSyncRowsMax + 3));
  EXPECT_EQ(vector_.applies, 2);
}

TEST_F(IndexSyncTest, WhatDoesNotFitIsRebuilt) {
  put("a", "one");
  put("a", "two");
  vector_.refuse = 1;
  EXPECT_EQ(sync_.sync({}, kCorpus), 2);
  EXPECT_EQ(vector_.drops, 1);
  EXPECT_THAT(vector_.live(), ElementsAre("two"));
  vector_.refuse = 100;
  put("b", "three");
  EXPECT_EQ(sync_.sync({}, kCorpus).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(IndexSyncTest, AnIndexThatIsAheadOfTheStoreIsRebuilt) {
  put("a", "one");
  vector_.at = 9;
  EXPECT_EQ(sync_.sync({}, kCorpus), 1);
  EXPECT_THAT(vector_.live(), ElementsAre("one"));
}

TEST_F(IndexSyncTest, PurgeForgetsWhatDiedBeforeTheGrace) {
  put("a", "one");
  put("a", "two");
  EXPECT_EQ(sync_.purge({}, kCorpus), 2);
  EXPECT_EQ(store_.purge_before, clock_.now() - kPurgeGrace);
  EXPECT_EQ(vector_.texts.size(), 1u);
  EXPECT_TRUE(vector_.dead.empty());
  EXPECT_EQ(sync_.purge({}, kCorpus), 0);
}

TEST_F(IndexSyncTest, AnIndexOlderThanThePurgeIsRebuilt) {
  put("a", "one");
  ASSERT_TRUE(sync_.sync({}, kCorpus).has_value());
  put("a", "two");
  put("a", "three");
  ASSERT_TRUE(store_.purge({}, kCorpus, clock_.now()).has_value());
  EXPECT_EQ(sync_.sync({}, kCorpus), 3);
  EXPECT_EQ(vector_.drops, 1);
  EXPECT_THAT(vector_.live(), ElementsAre("three"));
}

TEST_F(IndexSyncTest, ConcurrentSyncsDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        put(fmt::format("{}-{}", t, i), "x");
        EXPECT_TRUE(sync_.sync({}, kCorpus).has_value());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(sync_.sync({}, kCorpus), 200);
  EXPECT_EQ(vector_.live().size(), 200u);
  EXPECT_EQ(vector_.drops, 0);
}

}  // namespace
}  // namespace footnote::ingest
