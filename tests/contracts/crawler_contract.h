#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "contracts/stopped_call.h"
#include "ports/crawler.h"

/// What every Crawler must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Curl, CrawlerContract, ::testing::Values(CrawlerCase{"curl", make}), crawler_case_name);
namespace footnote::contract {

/// A crawler, and a site for it:
///   /page   200 text/html; charset=utf-8, "<p>hello</p>", ETag "v1" (with its quotes), X-Robots-Tag: noindex; 304 for that ETag
///   /from   redirects to /page     /loop   redirects to itself     /out   redirects to file:///etc/passwd
///   /photo  200 image/png          /large  200 text/plain, 100,000 bytes
///   everything else: 404 text/html, "missing"
struct CrawlerHarness {
  std::shared_ptr<Crawler> crawler;
  std::string origin;               ///< "http://127.0.0.1:8080"
  std::string forbidden;            ///< A URL that the crawler may not fetch.
  std::shared_ptr<void> site = {};  ///< Kept until the end of the test.
};

struct CrawlerCase {
  std::string name;
  std::function<CrawlerHarness()> make;
};

inline std::string crawler_case_name(const ::testing::TestParamInfo<CrawlerCase>& info) { return info.param.name; }

class CrawlerContract : public ::testing::TestWithParam<CrawlerCase> {
 protected:
  Result<FetchedPage> fetch(const std::string& path, PageRequest request = {}) {
    request.url = harness_.origin + path;
    return harness_.crawler->fetch(CallContext::with_timeout(std::chrono::seconds{10}), request);
  }

  CrawlerHarness harness_ = GetParam().make();
};

TEST_P(CrawlerContract, GivesAPageWithWhatItsServerSaid) {
  const auto page = fetch("/page#part");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->status, 200);
  EXPECT_TRUE(page->is_ok());
  EXPECT_EQ(page->final_url, harness_.origin + "/page");
  EXPECT_EQ(page->media_type, "text/html");
  EXPECT_EQ(page->charset, "utf-8");
  EXPECT_EQ(page->body, "<p>hello</p>");
  EXPECT_EQ(page->etag, "\"v1\"");
  EXPECT_EQ(page->robots, "noindex");
  EXPECT_EQ(page->redirects, 0);
  EXPECT_EQ(page->wire_bytes, page->body.size());
}

TEST_P(CrawlerContract, AStatusIsNoError) {
  const auto page = fetch("/nothing-here");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->status, 404);
  EXPECT_EQ(page->body, "missing");
}

TEST_P(CrawlerContract, WhatIsKnownIsNotSentAgain) {
  const auto page = fetch("/page", {.etag = "\"v1\""});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(page->is_unchanged());
  EXPECT_EQ(page->body, "");
  EXPECT_EQ(page->wire_bytes, 0u);
  EXPECT_TRUE(fetch("/page", {.etag = "\"v0\""})->is_ok());
}

TEST_P(CrawlerContract, FollowsRedirectsThatEnd) {
  const auto page = fetch("/from");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->final_url, harness_.origin + "/page");
  EXPECT_EQ(page->redirects, 1);
  EXPECT_EQ(page->location, "");
  EXPECT_EQ(fetch("/loop").error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(fetch("/out").error().code, ErrorCode::kPermissionDenied);
}

TEST_P(CrawlerContract, KeepsToTheCallersLimits) {
  EXPECT_EQ(fetch("/large")->body.size(), 100'000u);
  EXPECT_EQ(fetch("/large", {.body_bytes_max = 99'999}).error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(fetch("/large", {.body_bytes_max = 100'000}));
  EXPECT_EQ(fetch("/photo", {.media_types = {"text/*"}}).error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(fetch("/photo", {.media_types = {"text/*", "image/png"}}));
  EXPECT_TRUE(fetch("/page", {.media_types = {"text/*"}}));
  EXPECT_EQ(fetch("/nothing", {.media_types = {"image/png"}})->status, 404);
}

TEST_P(CrawlerContract, RefusesWhatIsNotAllowed) {
  const CallContext call = CallContext::with_timeout(std::chrono::seconds{10});
  EXPECT_EQ(harness_.crawler->fetch(call, {.url = harness_.forbidden}).error().code, ErrorCode::kPermissionDenied);
  for (const char* url : {"", "page", "file:///etc/passwd", "ftp://127.0.0.1/", "http://user@127.0.0.1/"}) {
    EXPECT_EQ(harness_.crawler->fetch(call, {.url = url}).error().code, ErrorCode::kInvalidArgument) << url;
  }
}

TEST_P(CrawlerContract, EndsWithItsCall) {
  PageRequest request{.url = harness_.origin + "/page"};
  EXPECT_EQ(harness_.crawler->fetch(stopped_call(), request).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(harness_.crawler->fetch(CallContext::with_timeout(std::chrono::milliseconds{0}), request).error().code,
            ErrorCode::kDeadlineExceeded);
}

}  // namespace footnote::contract
