#include "providers/redis/redis_url.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(RedisUrl, ReadsHostsSocketsAndWhatGoesWithThem) {
  EXPECT_EQ(*parse_redis_url("redis://cache"), (RedisAddress{.host = "cache"}));
  EXPECT_EQ(*parse_redis_url("redis://cache:7000/3"), (RedisAddress{.host = "cache", .port = 7000, .database = 3}));
  EXPECT_EQ(*parse_redis_url("redis://127.0.0.1/"), (RedisAddress{.host = "127.0.0.1"}));
  EXPECT_EQ(*parse_redis_url("redis://[::1]:7000"), (RedisAddress{.host = "::1", .port = 7000}));
  EXPECT_EQ(*parse_redis_url("redis://:p%40ss@cache"), (RedisAddress{.host = "cache", .password = "p@ss"}));
  EXPECT_EQ(*parse_redis_url("redis://bot:p:w@cache"), (RedisAddress{.host = "cache", .user = "bot", .password = "p:w"}));
  EXPECT_EQ(*parse_redis_url("unix:///run/redis.sock"), (RedisAddress{.socket = "/run/redis.sock"}));
  EXPECT_EQ(*parse_redis_url("unix:///run/redis.sock?db=2"), (RedisAddress{.socket = "/run/redis.sock", .database = 2}));
}

TEST(RedisUrl, RefusesTheRestAndNeverRepeatsAPassword) {
  for (const char* url : {"", "cache", "http://cache", "redis://", "redis://:secret@", "redis://cache:0", "redis://cache:70000",
                          "redis://cache:x", "redis://cache/x", "redis://u:%zzsecret@cache", "redis://[::1", "redis://[::1]x",
                          "unix://relative", "unix:///run/redis.sock?x=1"}) {
    const auto parsed = parse_redis_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument) << url;
    EXPECT_EQ(parsed.error().message.find("secret"), std::string::npos) << parsed.error().message;
  }
  EXPECT_EQ(parse_redis_url("rediss://cache").error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace footnote
