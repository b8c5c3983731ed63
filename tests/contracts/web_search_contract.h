#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/web_search.h"

/// What every WebSearch must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Searxng, WebSearchContract, ::testing::Values(WebSearchCase{"searxng", ...}), web_search_case_name);
namespace footnote::contract {

struct WebSearchCase {
  std::string name;
  /// An engine that finds these for "shipping", in this order.
  std::function<std::shared_ptr<WebSearch>(std::vector<WebResult>)> finds;
  /// An engine that does not answer.
  std::function<std::shared_ptr<WebSearch>()> down;
};

inline std::string web_search_case_name(const ::testing::TestParamInfo<WebSearchCase>& info) { return info.param.name; }

class WebSearchContract : public ::testing::TestWithParam<WebSearchCase> {
 protected:
  static std::vector<WebResult> three() {
    return {{"Shipping one", "https://example.org/1", "First."},
            {"Shipping two", "https://example.org/2", ""},
            {"Shipping three", "https://example.org/3", "Third \xE2\x82\xAC."}};
  }
  const CallContext call_ = CallContext::with_timeout(std::chrono::seconds{10});
};

TEST_P(WebSearchContract, GivesTheEnginesResultsInItsOrder) {
  const auto found = GetParam().finds(three())->search(call_, "shipping", "en", 10);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*found)[i].title, three()[i].title);
    EXPECT_EQ((*found)[i].url, three()[i].url);
    EXPECT_EQ((*found)[i].snippet, three()[i].snippet);
  }
}

TEST_P(WebSearchContract, KeepsToTheLimit) {
  const auto engine = GetParam().finds(three());
  EXPECT_EQ(engine->search(call_, "shipping", "en", 2)->size(), 2U);
  EXPECT_TRUE(engine->search(call_, "shipping", "en", 0)->empty());
}

TEST_P(WebSearchContract, FindingNothingIsNoError) { EXPECT_TRUE(GetParam().finds({})->search(call_, "shipping", "", 5)->empty()); }

TEST_P(WebSearchContract, NoAnswerIsUnavailable) {
  EXPECT_EQ(GetParam().down()->search(call_, "shipping", "en", 5).error().code, ErrorCode::kUnavailable);
}

TEST_P(WebSearchContract, ACallThatIsOverEnds) {
  const auto found = GetParam().finds(three())->search(stopped_call(), "shipping", "en", 5);
  EXPECT_EQ(found.error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(GetParam().finds(three())->search(late, "shipping", "en", 5).error().code, ErrorCode::kDeadlineExceeded);
}

}  // namespace footnote::contract
