#include "providers/redis/redis_cache.h"

#include <gtest/gtest.h>

#include "contracts/cache_contract.h"
#include "support/redis_server.h"

namespace footnote {
namespace {

using namespace std::chrono_literals;

[[maybe_unused]] const auto kIgnored = ::signal(SIGPIPE, SIG_IGN);  // as the program does

RedisCacheOptions patient() { return {.connect_timeout = 10s, .command_timeout = 10s}; }

std::shared_ptr<RedisCache> cache_at(const std::string& url, RedisCacheOptions options = patient(), Metrics* metrics = nullptr) {
  return std::make_shared<RedisCache>(parse_redis_url(url).value(), std::move(options), metrics);
}

contract::CacheHarness make_harness() {
  const auto server = std::make_shared<test::RedisServer>();
  std::shared_ptr<RedisCache> cache = cache_at(server->url());
  return {.cache = std::shared_ptr<Cache>(cache.get(), [server, cache](Cache*) {}),
          .let_pass = [](std::chrono::seconds time) { std::this_thread::sleep_for(time + 100ms); }};
}

}  // namespace

namespace contract {
INSTANTIATE_TEST_SUITE_P(Redis, CacheContract, ::testing::Values(CacheCase{"redis", make_harness}), cache_case_name);
}  // namespace contract

namespace {

class RedisCacheTest : public ::testing::Test {
 protected:
  const CallContext call_;
  test::RedisServer server_;
};

TEST_F(RedisCacheTest, IsSharedByThoseWhoUseTheSamePrefix) {
  const auto one = cache_at(server_.url());
  const auto two = cache_at(server_.url());
  RedisCacheOptions other = patient();
  other.prefix = "other:";
  const auto stranger = cache_at(server_.url(), other);
  one->put(call_, "k", "agent", "v", 60s);
  EXPECT_EQ(two->get(call_, "k"), "v");
  EXPECT_EQ(stranger->get(call_, "k"), std::nullopt);
  stranger->drop_tag(call_, "agent");
  EXPECT_EQ(two->get(call_, "k"), "v");
  two->drop_tag(call_, "agent");
  EXPECT_EQ(one->get(call_, "k"), std::nullopt);
}

TEST_F(RedisCacheTest, DatabasesAreApart) {
  const auto zero = cache_at(server_.url());
  const auto two = cache_at(server_.url() + "?db=2");
  zero->put(call_, "k", "t", "v", 60s);
  EXPECT_EQ(two->get(call_, "k"), std::nullopt);
}

TEST_F(RedisCacheTest, KeepsNothingPastItsBounds) {
  const auto cache = cache_at(server_.url());
  const std::string long_key(RedisCache::kKeyBytesMax + 1, 'k');
  const std::string longest_key(RedisCache::kKeyBytesMax, 'k');
  cache->put(call_, long_key, "t", "v", 60s);
  cache->put(call_, longest_key, "t", "v", 60s);
  EXPECT_EQ(cache->get(call_, long_key), std::nullopt);
  EXPECT_EQ(cache->get(call_, longest_key), "v");
  cache->put(call_, "large", "t", "small", 60s);
  cache->put(call_, "large", "t", std::string(RedisCache::kValueBytesMax + 1, 'v'), 60s);
  EXPECT_EQ(cache->get(call_, "large"), std::nullopt) << "the previous value must not remain";
  cache->put(call_, "large", "t", std::string(RedisCache::kValueBytesMax, 'v'), 60s);
  EXPECT_EQ(cache->get(call_, "large")->size(), RedisCache::kValueBytesMax);
}

TEST_F(RedisCacheTest, ADeadRedisIsAMissAndIsLeftAloneForAWhile) {
  Metrics metrics;
  RedisCacheOptions options = patient();
  options.retry_after = 1h;
  const auto cache = cache_at(server_.url(), options, &metrics);
  cache->put(call_, "k", "t", "v", 60s);
  EXPECT_EQ(cache->get(call_, "k"), "v");
  server_.stop();
  EXPECT_EQ(cache->get(call_, "k"), std::nullopt);
  cache->put(call_, "k", "t", "v", 60s);
  cache->drop_tag(call_, "t");
  EXPECT_EQ(metrics.counter("footnote_cache_failures_total", "", {{"cache", "redis"}}).value(), 1u) << "contacted once, then bypassed";
}

TEST_F(RedisCacheTest, ComesBackWithRedisAndPaysWhatItOwes) {
  RedisCacheOptions options = patient();
  options.retry_after = 0ms;
  options.command_timeout = 200ms;
  const auto cache = cache_at(server_.url(), options);
  const auto other = cache_at(server_.url());
  cache->put(call_, "k", "t", "old", 60s);
  cache->put(call_, "kept", "u", "v", 60s);
  ASSERT_EQ(other->get(call_, "k"), "old");
  server_.pause();
  EXPECT_EQ(cache->get(call_, "k"), std::nullopt) << "it does not answer in time";
  cache->drop_tag(call_, "t");
  server_.resume();
  // The tag drop that Redis missed is sent before any other command.
  for (int i = 0; i < 100 && cache->get(call_, "kept") != "v"; ++i) std::this_thread::sleep_for(50ms);
  EXPECT_EQ(other->get(call_, "k"), std::nullopt);
  EXPECT_EQ(other->get(call_, "kept"), "v");
}

TEST_F(RedisCacheTest, ACallThatIsOverIsAMiss) {
  const auto cache = cache_at(server_.url());
  cache->put(call_, "k", "t", "v", 60s);
  EXPECT_EQ(cache->get(CallContext::with_timeout(0ms), "k"), std::nullopt);
}

}  // namespace
}  // namespace footnote
