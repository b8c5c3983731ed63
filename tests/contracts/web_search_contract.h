#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "contracts/stopped_call.h"
#include "ports/web_search.h"

/// What every WebSearch must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Searxng, WebSearchContract, ::testing::Values(WebSearchCase{"searxng", make}), web_search_case_name);
namespace footnote::contract {

/// A search whose engine knows three pages about "lamps", best first: http://a.example/1, https://b.example/2, http://c.example/3, with the
/// titles "One", "Two", "Three" and the snippets "first", "second", "third"; about "nothing" none; and fails for "fail".
struct WebSearchHarness {
  std::shared_ptr<WebSearch> search;
  std::shared_ptr<void> engine = {};  ///< Kept until the end of the test.
};

struct WebSearchCase {
  std::string name;
  std::function<WebSearchHarness()> make;
};

inline std::string web_search_case_name(const ::testing::TestParamInfo<WebSearchCase>& info) { return info.param.name; }

class WebSearchContract : public ::testing::TestWithParam<WebSearchCase> {
 protected:
  const CallContext call_ = CallContext::with_timeout(std::chrono::seconds{10});
  WebSearchHarness harness_ = GetParam().make();
};

TEST_P(WebSearchContract, GivesTheBestFirstUpToTheLimit) {
  const auto three = harness_.search->search(call_, "lamps", "en", 10);
  ASSERT_TRUE(three) << three.error().message;
  ASSERT_EQ(three->size(), 3u);
  EXPECT_EQ(three->at(0).title, "One");
  EXPECT_EQ(three->at(0).url, "http://a.example/1");
  EXPECT_EQ(three->at(0).snippet, "first");
  EXPECT_EQ(three->at(2).url, "http://c.example/3");
  EXPECT_EQ(harness_.search->search(call_, "lamps", "", 2)->size(), 2u);
  EXPECT_TRUE(harness_.search->search(call_, "nothing", "en", 5)->empty());
}

TEST_P(WebSearchContract, AnEngineThatFailsIsUnavailable) {
  EXPECT_EQ(harness_.search->search(call_, "fail", "en", 5).error().code, ErrorCode::kUnavailable);
}

TEST_P(WebSearchContract, EndsWithItsCall) {
  EXPECT_EQ(harness_.search->search(stopped_call(), "lamps", "en", 5).error().code, ErrorCode::kCancelled);
}

}  // namespace footnote::contract
