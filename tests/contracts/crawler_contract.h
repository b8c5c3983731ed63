#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/crawler.h"

/// What every Crawler must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Http, CrawlerContract, ::testing::Values(CrawlerCase{"http", make, page, moved, nobody}), crawler_case_name);
/// No test reaches beyond loopback: a provider is given a resolver that leads the names below to a server of the test.
namespace footnote::contract {

struct CrawlerCase {
  std::string name;
  std::function<std::shared_ptr<Crawler>()> make;
  std::string page;        ///< An address that answers with "<p>Hello</p>" as text/html.
  std::string moved;       ///< One that leads there.
  std::string to_private;  ///< A public one that leads to a private address.
  std::string nobody;      ///< One where nobody answers.
};

inline std::string crawler_case_name(const ::testing::TestParamInfo<CrawlerCase>& info) { return info.param.name; }

class CrawlerContract : public ::testing::TestWithParam<CrawlerCase> {
 protected:
  ErrorCode error_of(std::string_view url) {
    const auto page = crawler_->fetch(call_, url);
    EXPECT_FALSE(page.has_value()) << url;
    return page ? ErrorCode::kInternal : page.error().code;
  }

  const CallContext call_ = CallContext::with_timeout(std::chrono::seconds{10});
  std::shared_ptr<Crawler> crawler_ = GetParam().make();
};

TEST_P(CrawlerContract, FetchesAPage) {
  const auto page = crawler_->fetch(call_, GetParam().page);
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->body, "<p>Hello</p>");
  EXPECT_TRUE(page->media_type.starts_with("text/html"));
  EXPECT_EQ(page->final_url, GetParam().page);
}

TEST_P(CrawlerContract, FollowsRedirectsAndSaysWhereItEnded) {
  const auto page = crawler_->fetch(call_, GetParam().moved);
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->final_url, GetParam().page);
}

TEST_P(CrawlerContract, RefusesWhatACrawlerMustNotTouch) {
  for (const char* url :
       {"file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "javascript:alert(1)", "not an address", "http://localhost/",
        "http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/"}) {
    EXPECT_EQ(error_of(url), ErrorCode::kPermissionDenied) << url;
  }
}

TEST_P(CrawlerContract, EveryHopIsChecked) { EXPECT_EQ(error_of(GetParam().to_private), ErrorCode::kPermissionDenied); }

TEST_P(CrawlerContract, NoAnswerIsUnavailable) { EXPECT_EQ(error_of(GetParam().nobody), ErrorCode::kUnavailable); }

TEST_P(CrawlerContract, ACallThatIsOverEnds) {
  EXPECT_EQ(crawler_->fetch(stopped_call(), GetParam().page).error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(crawler_->fetch(late, GetParam().page).error().code, ErrorCode::kDeadlineExceeded);
}

TEST_P(CrawlerContract, SeveralThreadsFetchWhatOneFetches) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      const auto page = crawler_->fetch(call_, GetParam().moved);
      ASSERT_TRUE(page.has_value()) << page.error().message;
      EXPECT_EQ(page->body, "<p>Hello</p>");
    });
  }
}

}  // namespace footnote::contract
