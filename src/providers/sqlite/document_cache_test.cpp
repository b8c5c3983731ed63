#include "providers/sqlite/document_cache.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

std::shared_ptr<const VersionFacts> facts_of(std::string key) {
  return std::make_shared<const VersionFacts>(VersionFacts{std::move(key), {}, {}});
}

TEST(DocumentCache, KnowsAVersionByBothItsNumbers) {
  DocumentCache cache;
  cache.put(1, 2, facts_of("a"), 10);
  ASSERT_NE(cache.find(1, 2), nullptr);
  EXPECT_EQ(cache.find(1, 2)->key, "a");
  EXPECT_EQ(cache.find(1, 1), nullptr);
  EXPECT_EQ(cache.find(2, 1), nullptr);
}

TEST(DocumentCache, StaysWithinItsBoundAndKeepsWhatIsAskedFor) {
  constexpr std::size_t kMax = 1000;
  DocumentCache cache(kMax);
  cache.put(0, 1, facts_of("wanted"), 100);
  for (std::int64_t document = 1; document <= 50; ++document) {
    cache.put(document, 1, facts_of("other"), 100);
    ASSERT_NE(cache.find(0, 1), nullptr) << document;
    ASSERT_LE(cache.bytes(), kMax) << document;
  }
  EXPECT_EQ(cache.find(1, 1), nullptr) << "it was not used";
  EXPECT_GT(cache.bytes(), kMax / 2);
}

TEST(DocumentCache, WhatComesTwiceCountsOnceAndWhatIsTooLargeIsNotKept) {
  DocumentCache cache(1000);
  cache.put(1, 1, facts_of("a"), 500);
  cache.put(1, 1, facts_of("a"), 500);
  EXPECT_LE(cache.bytes(), 1000U);
  cache.put(2, 1, facts_of("b"), 501);
  EXPECT_EQ(cache.find(2, 1), nullptr);
  EXPECT_NE(cache.find(1, 1), nullptr);
}

}  // namespace
}  // namespace footnote
