#include "providers/local/local_cache.h"

#include "contracts/cache_contract.h"

namespace footnote::contract {
namespace {

/// A cache and the clock it borrows.
struct Held {
  ManualClock clock{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  LocalCache cache{clock};
};

CacheHarness make() {
  const auto held = std::make_shared<Held>();
  return {std::shared_ptr<Cache>(held, &held->cache), [held](std::chrono::seconds time) { held->clock.advance(time); }};
}

INSTANTIATE_TEST_SUITE_P(Local, CacheContract, ::testing::Values(CacheCase{"local", make}), cache_case_name);

}  // namespace
}  // namespace footnote::contract

namespace footnote {
namespace {

constexpr std::chrono::minutes kLong{30};

TEST(LocalCacheTest, PastItsBoundWhatWasNotAskedForGoesFirst) {
  const ManualClock clock{UtcTime{}};
  LocalCache cache(clock, 4'000);
  for (const char* key : {"a", "b", "c"}) cache.put({}, key, "t", std::string(900, 'x'), kLong);
  EXPECT_TRUE(cache.get({}, "a")) << "just used, so the most recent";
  cache.put({}, "d", "t", std::string(900, 'x'), kLong);
  EXPECT_FALSE(cache.get({}, "b"));
  EXPECT_TRUE(cache.get({}, "a"));
  EXPECT_TRUE(cache.get({}, "c"));
  EXPECT_TRUE(cache.get({}, "d"));
  EXPECT_LE(cache.bytes(), 4'000u);
}

TEST(LocalCacheTest, AnEntryOfTheWholeBoundIsKeptALargerOneIsNot) {
  const ManualClock clock{UtcTime{}};
  LocalCache cache(clock, 1'000);
  cache.put({}, "k", "t", "small", kLong);
  const std::size_t overhead = cache.bytes() - 5;
  cache.put({}, "k", "t", std::string(1'000 - overhead, 'x'), kLong);
  EXPECT_TRUE(cache.get({}, "k"));
  EXPECT_EQ(cache.bytes(), 1'000u);
  cache.put({}, "k", "t", std::string(1'001 - overhead, 'x'), kLong);
  EXPECT_FALSE(cache.get({}, "k")) << "the old value is gone too";
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(LocalCacheTest, NothingIsLeftOfEntriesThatWent) {
  ManualClock clock{UtcTime{}};
  LocalCache cache(clock);
  cache.put({}, "a", "one", "1", std::chrono::seconds{1});
  cache.put({}, "b", "two", "2", kLong);
  cache.put({}, "b", "three", "3", kLong);
  clock.advance(std::chrono::seconds{1});
  EXPECT_FALSE(cache.get({}, "a"));
  cache.drop_tag({}, "three");
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace footnote
