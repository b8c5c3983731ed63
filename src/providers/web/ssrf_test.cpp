// No URL reaches an address that is not allowed, however it is spelled (ASVS 1.3.6). The canaries listen on every address of this machine.
#include <gtest/gtest.h>

#include <map>

#include "providers/web/curl_crawler.h"
#include "providers/web/test_site.h"

namespace footnote {
namespace {

using footnote::testing::Canary;
using footnote::testing::page;
using footnote::testing::redirect;
using footnote::testing::SiteRequest;
using footnote::testing::TestSite;
using footnote::testing::TestSocket;

/// Spellings of hosts on this machine, in private networks, and of special addresses. Names are resolved by the test.
const std::vector<std::string>& forbidden_hosts() {
  static const std::vector<std::string> hosts = {
      // 127.0.0.1 in numbers
      "127.0.0.1", "127.1", "127.0.1", "127.000.000.001", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1",
      "0177.0.0.01", "0x7F.0x0.0x0.0x1", "127.0.0.1.", "127.255.255.254", "0177.1", "0x7f.0x1",
      // zero and its like
      "0", "0.0.0.0", "0x0", "00", "0.1", "[::]", "[::0]", "[0:0:0:0:0:0:0:0]",
      // IPv6
      "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]",
      "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:0001::1]", "[2002:0a00:0001::1]",
      "[2001::1]", "[2001:db8::1]", "[fc00::1]", "[fd12:3456:789a::1]", "[fe80::1]", "[fe80::1%25lo]", "[fe80::1%lo]", "[fec0::1]",
      "[ff02::1]", "[100::1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[64:ff9b::169.254.169.254]",
      // other networks
      "10.0.0.1", "10.1", "0x0a000001", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1", "0xc0a80001", "3232235521",
      "169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518", "100.64.0.1", "100.127.255.255", "192.0.0.8",
      "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
      "255.255.255.255",
      // names
      "localhost", "LOCALHOST", "localhost.", "foo.localhost", "canary.example", "CANARY.example.", "intranet.example", "metadata.example",
      "v6.example", "mapped.example", "mixed-private.example",
      // full-width and circled digits, other dots
      "\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.0.0.1",
      "127\xE3\x80\x82"
      "0\xE3\x80\x82"
      "0\xE3\x80\x82"
      "1",
      "\xE2\x91\xA0\xE2\x91\xA1\xE2\x91\xA6.\xE2\x93\xAA.\xE2\x93\xAA.\xE2\x91\xA0",
      "loc\xC2\xAD"
      "alhost",
      "\xEF\xBD\x8C\xEF\xBD\x8F\xEF\xBD\x83\xEF\xBD\x81\xEF\xBD\x8C\xEF\xBD\x88\xEF\xBD\x8F\xEF\xBD\x93\xEF\xBD\x94"};
  return hosts;
}

/// URLs that are refused whatever their host. {P} is the canaries' port.
const std::vector<std::string>& forbidden_urls() {
  static const std::vector<std::string> urls = {"file:///etc/passwd",
                                                "file://127.0.0.1:{P}/",
                                                "ftp://127.0.0.1:{P}/",
                                                "gopher://127.0.0.1:{P}/_x",
                                                "dict://127.0.0.1:{P}/d",
                                                "ldap://127.0.0.1:{P}/",
                                                "smb://127.0.0.1:{P}/",
                                                "tftp://127.0.0.1:{P}/",
                                                "telnet://127.0.0.1:{P}/",
                                                "ws://127.0.0.1:{P}/",
                                                "sftp://127.0.0.1:{P}/",
                                                "imap://127.0.0.1:{P}/",
                                                "unix:///var/run/x.sock",
                                                "data:text/html,x",
                                                "javascript:alert(1)",
                                                "//127.0.0.1:{P}/",
                                                "http:127.0.0.1:{P}/",
                                                "http:/127.0.0.1:{P}/",
                                                "http:///127.0.0.1:{P}/",
                                                "http:////127.0.0.1:{P}/",
                                                "127.0.0.1:{P}/",
                                                "http://",
                                                "http://user@127.0.0.1:{P}/",
                                                "http://user:word@127.0.0.1:{P}/",
                                                "http://good.example@127.0.0.1:{P}/",
                                                "http://127.0.0.1:{P}@good.example/",
                                                "http://127.0.0.1:{P}#@good.example/",
                                                "http://good.example:80@127.0.0.1:{P}/",
                                                "http://127.0.0.1:{P}\\@good.example/",
                                                "http://good.example\\@127.0.0.1:{P}/",
                                                "http:\\\\127.0.0.1:{P}\\",
                                                "http://127.0.0.1%00.good.example:{P}/",
                                                "http://good.example%00@127.0.0.1:{P}/",
                                                "http://127.0.0.1%2f@good.example:{P}/",
                                                "http://127.0.0.1\t:{P}/",
                                                "http://127.0.0.1\r\n:{P}/",
                                                "http://127.0.0.1 :{P}/",
                                                "http://[::1:{P}/",
                                                "http://[::ffff:127.0.0.1:{P}/",
                                                "http://[127.0.0.1]:{P}/",
                                                "http://127.0.0.1:{P}:80/",
                                                "http://127.0.0.1:0{P}0000/",
                                                "http://127.0.0.1:-1/",
                                                "http://0/",
                                                "http://%31%32%37.0.0.1:{P}/",
                                                "http://127%2e0%2e0%2e1:{P}/",
                                                "http://127.0.0.1:22/",
                                                "http://127.0.0.1:25/",
                                                "http://127.0.0.1:6379/"};
  return urls;
}

const std::map<std::string, std::vector<std::string>>& names() {
  static const std::map<std::string, std::vector<std::string>> names = {{"localhost", {"127.0.0.1", "::1"}},
                                                                        {"localhost.", {"127.0.0.1", "::1"}},
                                                                        {"foo.localhost", {"127.0.0.1"}},
                                                                        {"canary.example", {"127.0.0.1"}},
                                                                        {"canary.example.", {"127.0.0.1"}},
                                                                        {"127.0.0.1.", {"127.0.0.1"}},
                                                                        {"intranet.example", {"10.0.0.1"}},
                                                                        {"metadata.example", {"169.254.169.254"}},
                                                                        {"v6.example", {"::1"}},
                                                                        {"mapped.example", {"::ffff:127.0.0.1"}},
                                                                        {"mixed-private.example", {"127.0.0.1", "::1", "10.0.0.1"}}};
  return names;
}

std::vector<std::string> resolve(const std::string& host) {
  const auto found = names().find(host);
  return found == names().end() ? std::vector<std::string>{} : found->second;
}

std::string with_port(std::string url, std::uint16_t port) {
  for (std::size_t at = 0; (at = url.find("{P}")) != std::string::npos;) url.replace(at, 3, std::to_string(port));
  return url;
}

/// Ports are open to all, so that only the addresses are in the way.
CurlCrawlerOptions strict(std::uint16_t port, std::string_view allow = "") {
  CurlCrawlerOptions options;
  options.policy = AddressPolicy::parse("80,443," + std::to_string(port), allow).value();
  options.gate.delay = {};
  options.tries = 1;
  options.resolver = resolve;
  return options;
}

std::vector<std::string> corpus(std::uint16_t port) {
  std::vector<std::string> out;
  for (const std::string& host : forbidden_hosts()) {
    for (const char* scheme : {"http://", "https://"}) out.push_back(scheme + host + ":" + std::to_string(port) + "/x");
  }
  for (const std::string& url : forbidden_urls()) out.push_back(with_port(url, port));
  return out;
}

TEST(Ssrf, NoSpellingReachesACanary) {
  const Canary canary;
  Metrics metrics;
  CurlCrawler crawler(strict(canary.port()), metrics);
  std::size_t tried = 0;
  for (const std::string& url : corpus(canary.port())) {
    const auto got = crawler.fetch(CallContext::with_timeout(std::chrono::seconds{5}), {.url = url});
    ASSERT_FALSE(got) << url;
    const ErrorCode code = got.error().code;
    EXPECT_TRUE(code == ErrorCode::kPermissionDenied || code == ErrorCode::kInvalidArgument || code == ErrorCode::kUnavailable)
        << url << ": " << got.error().message;
    EXPECT_EQ(got.error().message.find("127.0.0.1 port"), std::string::npos) << got.error().message;
    EXPECT_EQ(crawler.socket_count(), 0u) << url;
    ++tried;
  }
  EXPECT_GE(tried, 120u);
  EXPECT_EQ(canary.visitors(), 0u);
}

TEST(Ssrf, ACanaryIsReachedWhenItIsAllowed) {
  const Canary canary;
  Metrics metrics;
  CurlCrawler crawler(strict(canary.port(), "127.0.0.0/8"), metrics);
  EXPECT_FALSE(crawler.fetch(CallContext::with_timeout(std::chrono::milliseconds{300}),
                             {.url = "http://127.0.0.1:" + std::to_string(canary.port()) + "/"}));
  EXPECT_EQ(canary.visitors(), 1u);
}

TEST(Ssrf, NoRedirectReachesACanary) {
  const Canary canary;
  const std::vector<std::string> targets = corpus(canary.port());
  TestSite site([&](const SiteRequest& request, TestSocket& socket) {
    const std::size_t number = std::stoul(request.target.substr(1));
    // Control characters cannot stand in a header line; the others are sent as they are.
    std::string target = targets[number];
    std::erase_if(target, [](char c) { return c == '\r' || c == '\n'; });
    socket.send(redirect(target));
  });
  Metrics metrics;
  CurlCrawler crawler(strict(canary.port(), "127.0.0.1:" + std::to_string(site.port())), metrics);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto got = crawler.fetch(CallContext::with_timeout(std::chrono::seconds{5}), {.url = site.url("/" + std::to_string(i))});
    // A target that reads as a path of the same site comes back to it, and has no number.
    EXPECT_FALSE(got) << targets[i];
  }
  EXPECT_EQ(canary.visitors(), 0u);
}

TEST(Ssrf, AnAnswerThatChangesIsCheckedEachTime) {
  const Canary canary;
  TestSite site([](const SiteRequest&, TestSocket& socket) { socket.send(page("ok")); });
  // The first answer is allowed, every later one is this machine's other address.
  for (const char* later : {"127.0.0.2", "::1", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.2"}) {
    Metrics metrics;
    auto options = strict(canary.port(), "127.0.0.1:*");
    int asked = 0;
    options.resolver = [&](const std::string&) { return std::vector<std::string>{asked++ == 0 ? "127.0.0.1" : later}; };
    CurlCrawler crawler(options, metrics);
    const std::string url = "http://rebind.example:" + std::to_string(site.port()) + "/";
    EXPECT_TRUE(crawler.fetch({}, {.url = url}));
    const auto second = crawler.fetch({}, {.url = "http://rebind.example:" + std::to_string(canary.port()) + "/"});
    ASSERT_FALSE(second) << later;
    EXPECT_EQ(second.error().code, ErrorCode::kPermissionDenied) << second.error().message;
  }
  EXPECT_EQ(canary.visitors(), 0u);
}

TEST(Ssrf, AProxyOfTheEnvironmentIsNotUsed) {
  const Canary canary;
  const std::string proxy = "http://127.0.0.1:" + std::to_string(canary.port());
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) ::setenv(name, proxy.c_str(), 1);
  TestSite site([](const SiteRequest&, TestSocket& socket) { socket.send(page("straight")); });
  Metrics metrics;
  CurlCrawler crawler(strict(canary.port(), "127.0.0.1:" + std::to_string(site.port())), metrics);
  const auto got = crawler.fetch({}, {.url = site.url("/")});
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "straight");
  EXPECT_EQ(canary.visitors(), 0u);
}

TEST(Ssrf, WhatIsAllowedIsFetchedBesideARefusedAddress) {
  TestSite site([](const SiteRequest&, TestSocket& socket) { socket.send(page("ok")); });
  Metrics metrics;
  auto options = strict(80, "127.0.0.1:" + std::to_string(site.port()));
  options.resolver = [](const std::string&) { return std::vector<std::string>{"::1", "10.0.0.1", "127.0.0.1"}; };
  CurlCrawler crawler(options, metrics);
  const auto got = crawler.fetch(CallContext::with_timeout(std::chrono::seconds{5}),
                                 {.url = "http://both.example:" + std::to_string(site.port()) + "/"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(crawler.socket_count(), 1u);
}

}  // namespace
}  // namespace footnote
