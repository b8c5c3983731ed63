#include "http/url.h"

#include <gtest/gtest.h>

#include "http/http1.h"

namespace footnote::http {
namespace {

/// "http host 80 /target", or "error".
std::string parsed(std::string_view text) {
  const Result<Url> url = parse_url(text);
  if (!url) return url.error().code == ErrorCode::kInvalidArgument ? "error" : "wrong code";
  return fmt::format("{} {} {} {}", url->scheme == Scheme::kHttps ? "https" : "http", url->host, url->port, url->target);
}

TEST(UrlTest, ReadsConfiguredUrls) {
  EXPECT_EQ(parsed("http://example.com"), "http example.com 80 /");
  EXPECT_EQ(parsed("HTTPS://Example.COM/V1?a=B"), "https example.com 443 /V1?a=B");
  EXPECT_EQ(parsed("http://127.0.0.1:4000/v1/"), "http 127.0.0.1 4000 /v1/");
  EXPECT_EQ(parsed("http://[::1]:8080/x"), "http ::1 8080 /x");
  EXPECT_EQ(parsed("http://[fe80::1]"), "http fe80::1 80 /");
  EXPECT_EQ(parsed("http://host?q=1"), "http host 80 /?q=1");
  EXPECT_EQ(parsed("http://1.2.3.4.evil.com/"), "http 1.2.3.4.evil.com 80 /");
}

TEST(UrlTest, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "example.com",
                                      "ftp://h/",
                                      "file:///etc/passwd",
                                      "http://",
                                      "http:///x",
                                      "http://user@h/",
                                      "http://user:pw@h/",
                                      "http://a@127.0.0.1:80@h/",
                                      "http://h:0/",
                                      "http://h:65536/",
                                      "http://h:8x/",
                                      "http://h:/",
                                      "http://[::1",
                                      "http://[zz]/",
                                      "http://[::1]x/",
                                      "http://h/a b",
                                      "http://h/\n",
                                      "http://h/#f",
                                      "http://h\\@x/",
                                      "http://h/a\\b",
                                      "http://b\xC3\xBC/",
                                      "http://h%41/"}) {
    EXPECT_EQ(parsed(text), "error") << text;
  }
}

TEST(UrlTest, BoundsTheLength) {
  const std::string start = "http://h/";
  EXPECT_NE(parsed(start + std::string(kUrlBytesMax - start.size(), 'a')), "error");
  EXPECT_EQ(parsed(start + std::string(kUrlBytesMax - start.size() + 1, 'a')), "error");
}

TEST(UrlTest, RendersHostHeaders) {
  EXPECT_EQ(parse_url("http://h")->host_header(), "h");
  EXPECT_EQ(parse_url("https://h:443/")->host_header(), "h");
  EXPECT_EQ(parse_url("https://h:80/")->host_header(), "h:80");
  EXPECT_EQ(parse_url("http://[::1]:81/")->host_header(), "[::1]:81");
  EXPECT_EQ(parse_url("http://h")->authority(), "h:80");
}

TEST(UrlTest, JoinsBaseAndPath) {
  EXPECT_EQ(join_url("http://h/v1", "/models"), "http://h/v1/models");
  EXPECT_EQ(join_url("http://h/v1/", "models"), "http://h/v1/models");
  EXPECT_EQ(join_url("http://h", "x/y"), "http://h/x/y");
}

TEST(UrlTest, PercentRoundTripsEveryText) {
  const std::string text = "a b/c?d=e&f+g%\xC3\xA9\xF0\x9F\x98\x80~.-_";
  EXPECT_EQ(percent_decode(percent_encode(text)).value(), text);
  EXPECT_EQ(percent_encode("a/b \xC3\xA9"), "a%2Fb%20%C3%A9");
  EXPECT_EQ(percent_decode("a+b").value(), "a+b");
}

TEST(UrlTest, RefusesBrokenEscapes) {
  for (const std::string_view text : {"%", "%4", "a%", "%zz", "%4g", "%00", "%ff", "%C3", "%ED%A0%80", "%C0%AF"}) {
    EXPECT_FALSE(percent_decode(text)) << text;
  }
}

TEST(UrlTest, ReadsQueries) {
  const NameValues expected{{"a", "1"}, {"b", "x y"}, {"c", ""}, {"d", ""}, {"a", "=2"}, {"\xC3\xA9", "&"}};
  EXPECT_EQ(parse_query("a=1&b=x+y&c&d=&&a==2&%C3%A9=%26").value(), expected);
  EXPECT_TRUE(parse_query("").value().empty());
  EXPECT_FALSE(parse_query("a=%2"));
}

TEST(UrlTest, BoundsTheNumberOfParameters) {
  std::string query;
  for (std::size_t i = 0; i < kQueryParametersMax; ++i) query += "a=1&";
  EXPECT_EQ(parse_query(query).value().size(), kQueryParametersMax);
  EXPECT_EQ(parse_query(query + "a").error().code, ErrorCode::kTooLarge);
}

TEST(Http1Test, ReadsTargets) {
  EXPECT_EQ(parse_target("/a?b=c?d")->path, "/a");
  EXPECT_EQ(parse_target("/a?b=c?d")->query, "b=c?d");
  EXPECT_EQ(parse_target("http://h:1/a?b")->path, "/a");
  EXPECT_EQ(parse_target("http://h")->path, "/");
  for (const std::string_view text : {"", "*", "a", "ftp://h/", "/a#b", "http://h?x"}) EXPECT_FALSE(parse_target(text)) << text;
}

TEST(Http1Test, KeepsResponsesWhole) {
  const Headers headers{{"x-a", "1\r\nset-cookie: evil"}, {"bad name", "x"}, {"Content-Length", "99"}, {"", "y"}};
  const std::string head = render_response_head(200, headers, {.framing = Framing::kLength, .content_length = 5, .keep_alive = false});
  EXPECT_NE(head.find("x-a: 1set-cookie: evil\r\n"), std::string::npos);
  EXPECT_EQ(head.find("bad name"), std::string::npos);
  EXPECT_EQ(head.find("99"), std::string::npos);
  EXPECT_NE(head.find("content-length: 5\r\n"), std::string::npos);
  EXPECT_NE(head.find("connection: close\r\n"), std::string::npos);
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(Http1Test, ChecksRequestIds) {
  EXPECT_TRUE(is_request_id("aZ0._-"));
  EXPECT_TRUE(is_request_id(std::string(kRequestIdBytesMax, 'a')));
  for (const std::string& text : {std::string(), std::string(kRequestIdBytesMax + 1, 'a'), std::string("a b"), std::string("a\n")}) {
    EXPECT_FALSE(is_request_id(text));
  }
}

TEST(MessageTest, HeadersIgnoreCase) {
  Headers headers{{"Content-Type", "a"}};
  headers.add("content-type", "b");
  EXPECT_EQ(headers.find("CONTENT-TYPE"), "a");
  headers.set("content-TYPE", *headers.find("content-type"));
  EXPECT_EQ(headers.size(), 1U);
  EXPECT_FALSE(headers.contains("content"));
  headers.remove("Content-type");
  EXPECT_TRUE(headers.empty());
}

}  // namespace
}  // namespace footnote::http
