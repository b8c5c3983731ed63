#include "fakes/faults.h"

#include <gtest/gtest.h>

#include "fakes/fake_embedder.h"
#include "fakes/fake_llm.h"
#include "fakes/memory_cache.h"
#include "fakes/memory_store.h"

namespace footnote::fakes {
namespace {

TEST(Faults, FailAfterTheGivenNumberOfCallsUntilHealed) {
  Faults faults;
  EXPECT_TRUE(faults.next());
  faults.fail_after(2, ErrorCode::kUnavailable);
  EXPECT_TRUE(faults.next());
  EXPECT_TRUE(faults.next());
  EXPECT_EQ(faults.next().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(faults.next().error().code, ErrorCode::kUnavailable);
  faults.heal();
  EXPECT_TRUE(faults.next());
  EXPECT_EQ(faults.calls(), 6u);
}

TEST(FakeEmbedder, SynonymsMeanTheSame) {
  FakeEmbedder embedder;
  embedder.add_synonym("vacation", "holidays");
  const std::string_view texts[] = {"vacation", "holiday", "invoice"};
  const auto out = embedder.embed({}, texts, {}).value();
  EXPECT_EQ(out[0].windows[0].values, out[1].windows[0].values);
  EXPECT_NE(out[0].windows[0].values, out[2].windows[0].values);
}

TEST(FakeLlm, CountsCallsAndKeepsTheLastRequest) {
  FakeLlm llm;
  llm.say({"x"});
  const auto ignore = [](std::string_view) -> Result<void> { return {}; };
  ASSERT_TRUE(llm.stream({}, {.messages = {{ChatRole::kUser, "first"}}}, ignore));
  ASSERT_TRUE(llm.stream({}, {.messages = {{ChatRole::kUser, "second"}}}, ignore));
  EXPECT_EQ(llm.calls(), 2u);
  EXPECT_EQ(llm.running(), 0u);
  EXPECT_EQ(llm.last_request().messages.at(0).content, "second");
}

TEST(MemoryCache, HoldsABoundedNumberOfEntries) {
  const ManualClock clock{UtcTime{}};
  MemoryCache cache(clock, 2);
  for (const char* key : {"a", "b", "c"}) cache.put({}, key, "t", key, std::chrono::hours{1});
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.get({}, "a"), std::nullopt);
  EXPECT_EQ(cache.get({}, "c"), "c");
}

TEST(MemoryStore, AfterLosingDeathsALaggingIndexMustStartOver) {
  ManualClock clock{UtcTime{}};
  MemoryStore store(clock);
  const CorpusId corpus = store.ensure_corpus({}, store.find_workspace({}, kDefaultWorkspace)->id, "c", {"m", 1})->id;
  const auto commit = [&](const char* text) {
    DocumentDraft draft{.key = "a", .content_hash = text, .text = text};
    draft.chunks.push_back({.text = text, .content_hash = text, .vectors = {{1.0f}}});
    ASSERT_TRUE(store.commit({}, corpus, std::vector{draft}, {}));
    clock.advance(std::chrono::hours{1});
  };
  commit("one");
  commit("two");
  commit("three");
  ASSERT_EQ(store.purge({}, corpus, clock.now()).value(), 3);
  EXPECT_TRUE(store.changes({}, corpus, 1, 10));
  store.lose_purged_deaths(corpus);
  EXPECT_EQ(store.changes({}, corpus, 1, 10).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(store.changes({}, corpus, 0, 0)->to, 3);
}

}  // namespace
}  // namespace footnote::fakes
