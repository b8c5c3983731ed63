#include "providers/web/curl_crawler.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "contracts/crawler_contract.h"
#include "contracts/web_search_contract.h"
#include "providers/web/searxng_search.h"
#include "providers/web/test_site.h"

namespace footnote {
namespace {

using footnote::testing::page;
using footnote::testing::redirect;
using footnote::testing::response;
using footnote::testing::SiteRequest;
using footnote::testing::TestSite;
using footnote::testing::TestSocket;
using std::chrono::milliseconds;

/// For a site on loopback, without waiting.
CurlCrawlerOptions eager() {
  CurlCrawlerOptions options;
  options.policy = AddressPolicy::parse("80,443", "127.0.0.1:*").value();
  options.gate.delay = {};
  options.retry_wait = milliseconds{1};
  return options;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

contract::CrawlerHarness make_site() {
  const auto site = std::make_shared<TestSite>([](const SiteRequest& request, TestSocket& socket) {
    const bool is_known = request.head.find("If-None-Match: \"v1\"\r\n") != std::string::npos;
    if (request.target == "/page" && is_known) {
      socket.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n");
    } else if (request.target == "/page") {
      socket.send(
          response("200 OK", "Content-Type: Text/HTML; charset=\"UTF-8\"\r\nETag: \"v1\"\r\nX-Robots-Tag: noindex\r\n", "<p>hello</p>"));
    } else if (request.target == "/from") {
      socket.send(redirect("/page"));
    } else if (request.target == "/loop") {
      socket.send(redirect("/loop"));
    } else if (request.target == "/out") {
      socket.send(redirect("file:///etc/passwd"));
    } else if (request.target == "/photo") {
      socket.send(response("200 OK", "Content-Type: image/png\r\n", "png"));
    } else if (request.target == "/large") {
      socket.send(response("200 OK", "Content-Type: text/plain\r\n", std::string(100'000, 'x')));
    } else {
      socket.send(response("404 Not Found", "Content-Type: text/html\r\n", "missing"));
    }
  });
  static Metrics metrics;
  return {std::make_shared<CurlCrawler>(eager(), metrics), "http://127.0.0.1:" + std::to_string(site->port()), "http://10.0.0.1/", site};
}

class CurlFetch : public ::testing::Test {
 protected:
  Result<FetchedPage> fetch(const TestSite& site, const CurlCrawlerOptions& options, PageRequest request = {}, std::string path = "/") {
    CurlCrawler crawler(options, metrics_);
    request.url = site.url(path);
    return crawler.fetch(CallContext::with_timeout(std::chrono::seconds{20}), request);
  }
  Metrics metrics_;
};

TEST_F(CurlFetch, CompressedPagesAreUnpackedAndCounted) {
  const std::string text(50'000, 'a');
  TestSite site([&](const SiteRequest& request, TestSocket& socket) {
    EXPECT_NE(request.head.find("Accept-Encoding: gzip"), std::string::npos);
    socket.send(response("200 OK", "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", gzip(text)));
  });
  const auto got = fetch(site, eager());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, text);
  EXPECT_LT(got->wire_bytes, 1'000u);
}

TEST_F(CurlFetch, NoCredentialOrCookieIsSent) {
  TestSite site([](const SiteRequest& request, TestSocket& socket) {
    if (request.target == "/") return void(socket.send(response("302 Found", "Set-Cookie: a=b\r\nLocation: /next\r\n", "")));
    socket.send(page("ok"));
  });
  ASSERT_TRUE(fetch(site, eager()));
  for (const SiteRequest& request : site.requests()) {
    EXPECT_EQ(request.head.find("Cookie"), std::string::npos);
    EXPECT_EQ(request.head.find("Authorization"), std::string::npos);
    EXPECT_EQ(request.head.find("Referer"), std::string::npos);
    EXPECT_NE(request.head.find("User-Agent: footnote"), std::string::npos);
    EXPECT_NE(request.head.find("Host: 127.0.0.1:" + std::to_string(site.port())), std::string::npos);
  }
  EXPECT_EQ(site.requests().size(), 2u);
}

TEST_F(CurlFetch, AFailureThatMayPassIsTriedAgain) {
  std::atomic<int> asked{0};
  TestSite site([&](const SiteRequest& request, TestSocket& socket) {
    if (request.target == "/always") return void(socket.send(response("503 Service Unavailable", "", "busy")));
    if (request.target == "/missing") return void(socket.send(response("404 Not Found", "", "no")));
    socket.send(++asked < 3 ? response("503 Service Unavailable", "Retry-After: 0\r\n", "busy") : page("ok"));
  });
  EXPECT_EQ(fetch(site, eager())->body, "ok");
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(fetch(site, eager(), {}, "/always")->status, 503);
  EXPECT_EQ(site.requests().size(), 6u);
  EXPECT_EQ(fetch(site, eager(), {}, "/missing")->status, 404);
  EXPECT_EQ(site.requests().size(), 7u);
}

TEST_F(CurlFetch, ALongRetryAfterIsNotWaitedFor) {
  TestSite site(
      [](const SiteRequest&, TestSocket& socket) { socket.send(response("429 Too Many Requests", "Retry-After: 3600\r\n", "")); });
  EXPECT_EQ(fetch(site, eager())->status, 429);
  EXPECT_EQ(site.requests().size(), 1u);
}

// A hostile server: every fetch ends within its bound.

TEST_F(CurlFetch, RedirectsWithoutEndStopAfterFive) {
  std::atomic<int> count{0};
  TestSite site([&](const SiteRequest&, TestSocket& socket) { socket.send(redirect("/r" + std::to_string(++count))); });
  EXPECT_EQ(fetch(site, eager()).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(site.requests().size(), 1u + CurlCrawler::kRedirectsMax);
}

TEST_F(CurlFetch, ABodyWithoutEndStopsAtItsLimit) {
  TestSite site([](const SiteRequest& request, TestSocket& socket) {
    const bool chunked = request.target == "/chunked";
    socket.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + std::string(chunked ? "Transfer-Encoding: chunked\r\n" : "") + "\r\n");
    const std::string part = chunked ? "4000\r\n" + std::string(0x4000, 'x') + "\r\n" : std::string(0x4000, 'x');
    while (socket.send(part)) {
    }
  });
  auto options = eager();
  options.limits.body_bytes_max = 1u << 20;
  EXPECT_EQ(fetch(site, options).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(fetch(site, options, {}, "/chunked").error().code, ErrorCode::kTooLarge);
}

TEST_F(CurlFetch, ABombStopsAtItsLimit) {
  const std::string bomb = gzip(std::string(64u << 20, '\0'));
  TestSite site([&](const SiteRequest&, TestSocket& socket) {
    socket.send(response("200 OK", "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", bomb));
  });
  auto options = eager();
  options.limits.body_bytes_max = 1u << 20;
  EXPECT_EQ(fetch(site, options).error().code, ErrorCode::kTooLarge);
}

TEST_F(CurlFetch, APackedBodyThatUnpacksToNothingStopsAtItsLimit) {
  // Empty stored blocks of deflate: bytes arrive for ever, no text does.
  std::string empty_blocks;
  while (empty_blocks.size() < 64u << 10) empty_blocks.append("\x00\x00\x00\xFF\xFF", 5);
  TestSite site([&](const SiteRequest&, TestSocket& socket) {
    socket.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n");
    socket.send(std::string_view("\x1F\x8B\x08\x00\x00\x00\x00\x00\x00\x03", 10));
    while (socket.send(empty_blocks)) {
    }
  });
  auto options = eager();
  options.limits.body_bytes_max = 1u << 20;
  EXPECT_EQ(fetch(site, options).error().code, ErrorCode::kTooLarge);
}

TEST_F(CurlFetch, AFloodOfHeadersStopsAtItsLimit) {
  TestSite site([](const SiteRequest& request, TestSocket& socket) {
    socket.send("HTTP/1.1 200 OK\r\n");
    const std::string line = request.target == "/long" ? "X: " + std::string(30'000, 'x') + "\r\n" : "X: y\r\n";
    while (socket.send(line)) {
    }
  });
  EXPECT_EQ(fetch(site, eager()).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(fetch(site, eager(), {}, "/long").error().code, ErrorCode::kTooLarge);
}

TEST_F(CurlFetch, AResponseShorterThanAnnouncedIsNone) {
  TestSite site([](const SiteRequest&, TestSocket& socket) { socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort"); });
  EXPECT_EQ(fetch(site, eager()).error().code, ErrorCode::kUnavailable);
}

TEST_F(CurlFetch, AnnouncedSizesAndNonsenseAreNoResponse) {
  TestSite site([](const SiteRequest& request, TestSocket& socket) {
    if (request.target == "/huge") return void(socket.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nx"));
    if (request.target == "/empty") return;
    if (request.target == "/zip") return void(socket.send(response("200 OK", "Content-Encoding: gzip\r\n", "not gzip")));
    socket.send("SSH-2.0-OpenSSH_9.2\r\n");
  });
  for (const char* path : {"/huge", "/empty", "/zip", "/ssh"}) {
    const auto got = fetch(site, eager(), {}, path);
    ASSERT_FALSE(got) << path;
    EXPECT_TRUE(got.error().code == ErrorCode::kUnavailable || got.error().code == ErrorCode::kTooLarge) << path << got.error().message;
  }
}

TEST_F(CurlFetch, ASlowServerIsLeftAtTheDeadline) {
  TestSite site([](const SiteRequest& request, TestSocket& socket) {
    if (request.target == "/silent") return void(socket.read_some(std::chrono::seconds{30}));
    socket.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
    while (socket.send("x")) std::this_thread::sleep_for(milliseconds{5});
  });
  CurlCrawler crawler(eager(), metrics_);
  for (const char* path : {"/drip", "/silent"}) {
    const auto got = crawler.fetch(CallContext::with_timeout(milliseconds{150}), {.url = site.url(path)});
    EXPECT_EQ(got.error().code, ErrorCode::kDeadlineExceeded) << path;
  }
  auto options = eager();
  options.fetch_time_max = milliseconds{150};
  EXPECT_EQ(fetch(site, options, {}, "/drip").error().code, ErrorCode::kDeadlineExceeded) << "the crawler's own limit";
}

TEST_F(CurlFetch, ACallerThatGoesAwayEndsItsFetch) {
  TestSite site([](const SiteRequest&, TestSocket& socket) { socket.read_some(std::chrono::seconds{30}); });
  CurlCrawler crawler(eager(), metrics_);
  const auto gone = std::make_unique<std::stop_source>();
  CallContext call;
  call.stop = gone->get_token();
  std::jthread leaver([&] {
    http::testing::eventually([&] { return site.connection_count() > 0; });
    gone->request_stop();
  });
  EXPECT_EQ(crawler.fetch(call, {.url = site.url("/")}).error().code, ErrorCode::kCancelled);
}

TEST(HostGates, RequestsToOneHostWaitForEachOther) {
  HostGate gate({.delay = milliseconds{30}, .per_host_max = 1, .open_max = 8});
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto first = gate.enter({}, "a");
  }
  const auto other = gate.enter({}, "b");
  EXPECT_TRUE(other);
  {
    const auto second = gate.enter({}, "a");
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds{30});
  const auto held = gate.enter({}, "c");
  EXPECT_EQ(gate.enter(CallContext::with_timeout(milliseconds{10}), "c").error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(gate.enter(CallContext::with_timeout(milliseconds{10}), "b", std::chrono::seconds{30}).error().code,
            ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(gate.enter(contract::stopped_call(), "d").error().code, ErrorCode::kCancelled);
}

TEST(HostGates, IdleHostsAreForgotten) {
  HostGate gate({.delay = {}, .per_host_max = 1, .open_max = 8});
  for (std::size_t i = 0; i < HostGate::kHostsMax + 10; ++i) EXPECT_TRUE(gate.enter({}, std::to_string(i)));
  EXPECT_LE(gate.host_count(), HostGate::kHostsMax);
}

contract::WebSearchHarness make_engine() {
  const auto site = std::make_shared<TestSite>([](const SiteRequest& request, TestSocket& socket) {
    EXPECT_TRUE(request.target.starts_with("/search?format=json&q=")) << request.target;
    if (request.target.find("q=fail") != std::string::npos) return void(socket.send(response("403 Forbidden", "", "no json")));
    const std::string results = request.target.find("q=lamps") == std::string::npos ? "" : R"(
      {"url": "http://a.example/1", "title": "One", "content": "first", "engines": ["x"], "score": 2.5},
      {"url": "https://b.example/2", "title": " Two\n", "content": "second"}, {"url": "magnet:?x", "title": "No page"}, 7,
      {"url": "http://c.example/3", "title": "Three", "content": "third", "publishedDate": null})";
    socket.send(
        response("200 OK", "Content-Type: application/json\r\n",
                 R"({"query": "q", "results": [)" + results + R"(], "answers": [{"answer": "x"}], "unresponsive_engines": [["e", "x"]]})"));
  });
  struct Engine {
    Metrics metrics;
    http::Client client{{}, metrics};
    std::shared_ptr<TestSite> site;
    std::unique_ptr<SearxngSearch> search;
  };
  const auto engine = std::make_shared<Engine>();
  engine->site = site;
  engine->search = std::make_unique<SearxngSearch>(engine->client, SearxngOptions{.url = site->url("")});
  return {std::shared_ptr<WebSearch>(engine, engine->search.get()), engine};
}

}  // namespace

namespace contract {
namespace {
INSTANTIATE_TEST_SUITE_P(Curl, CrawlerContract, ::testing::Values(CrawlerCase{"curl", make_site}), crawler_case_name);
INSTANTIATE_TEST_SUITE_P(Searxng, WebSearchContract, ::testing::Values(WebSearchCase{"searxng", make_engine}), web_search_case_name);
}  // namespace
}  // namespace contract
}  // namespace footnote
