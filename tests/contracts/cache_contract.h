#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "ports/cache.h"

/// What every Cache must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Redis, CacheContract, ::testing::Values(CacheCase{"redis", make, let_pass}), cache_case_name);
/// A cache may evict at any time; the suite is small enough that a correct one evicts nothing.
namespace footnote::contract {

/// An empty cache, and a way to advance its clock.
struct CacheHarness {
  std::shared_ptr<Cache> cache;
  std::function<void(std::chrono::seconds)> let_pass;
};

struct CacheCase {
  std::string name;
  std::function<CacheHarness()> make;
};

inline std::string cache_case_name(const ::testing::TestParamInfo<CacheCase>& info) { return info.param.name; }

class CacheContract : public ::testing::TestWithParam<CacheCase> {
 protected:
  void put(std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl = std::chrono::minutes{30}) {
    harness_.cache->put(call_, key, tag, std::move(value), ttl);
  }
  std::optional<std::string> get(std::string_view key) { return harness_.cache->get(call_, key); }

  const CallContext call_;
  CacheHarness harness_ = GetParam().make();
};

TEST_P(CacheContract, GivesBackWhatWasPut) {
  EXPECT_EQ(get("k"), std::nullopt);
  const std::string bytes("a\0\xFF\n", 4);
  put("k", "t", bytes);
  put("empty", "t", "");
  EXPECT_EQ(get("k"), bytes);
  EXPECT_EQ(get("empty"), "");
  put("k", "t", "newer");
  EXPECT_EQ(get("k"), "newer");
}

TEST_P(CacheContract, KeysThatLookAlikeAreTwo) {
  put("a:b", "t", "1");
  put("a", "t", "2");
  put("a:b:", "t", "3");
  EXPECT_EQ(get("a:b"), "1");
  EXPECT_EQ(get("a"), "2");
}

TEST_P(CacheContract, AnEntryEndsWithItsTime) {
  put("short", "t", "1", std::chrono::seconds{1});
  put("long", "t", "2", std::chrono::seconds{3600});
  harness_.let_pass(std::chrono::seconds{2});
  EXPECT_EQ(get("short"), std::nullopt);
  EXPECT_EQ(get("long"), "2");
}

TEST_P(CacheContract, AnEntryWithoutTimeIsGoneAtOnce) {
  put("k", "t", "1");
  put("k", "t", "2", std::chrono::seconds{0});
  EXPECT_EQ(get("k"), std::nullopt);
}

TEST_P(CacheContract, DroppingATagDropsItsEntriesAndNoOthers) {
  put("a", "corpus-1", "1");
  put("b", "corpus-1", "2");
  put("c", "corpus-10", "3");
  harness_.cache->drop_tag(call_, "corpus-1");
  harness_.cache->drop_tag(call_, "never-there");
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(get("b"), std::nullopt);
  EXPECT_EQ(get("c"), "3");
}

TEST_P(CacheContract, AnEntryPutUnderAnotherTagLeavesTheOldOne) {
  put("a", "old", "1");
  put("a", "new", "2");
  harness_.cache->drop_tag(call_, "old");
  EXPECT_EQ(get("a"), "2");
}

TEST_P(CacheContract, BearsSeveralThreads) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const std::string key = "k" + std::to_string(i);
      for (int round = 0; round < 100; ++round) {
        put(key, "t" + std::to_string(i), std::to_string(round));
        EXPECT_EQ(get(key), std::to_string(round));
      }
      harness_.cache->drop_tag(call_, "t" + std::to_string(i));
      EXPECT_EQ(get(key), std::nullopt);
    });
  }
}

}  // namespace footnote::contract
