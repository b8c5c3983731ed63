#include "engine/url/web_url.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

std::string parsed(std::string_view text) {
  const auto url = parse_web_url(text);
  return url ? url->text : "refused";
}

std::string resolved(std::string_view base, std::string_view reference) {
  const auto from = parse_web_url(base);
  EXPECT_TRUE(from) << base;
  const auto url = resolve_web_url(*from, reference);
  return url ? url->text : "refused";
}

TEST(WebUrl, IsTakenApart) {
  const auto url = parse_web_url(" HTTPS://Docs.Example:8443/a/../b/./c?x=1&y=2#part ");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "docs.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/b/c");
  EXPECT_EQ(url->query, "x=1&y=2");
  EXPECT_EQ(url->origin(), "https://docs.example:8443");
  EXPECT_EQ(url->text, "https://docs.example:8443/b/c?x=1&y=2");
}

TEST(WebUrl, OneAddressHasOneSpelling) {
  EXPECT_EQ(parsed("http://a.example"), "http://a.example/");
  EXPECT_EQ(parsed("http://a.example:80/"), "http://a.example/");
  EXPECT_EQ(parsed("https://a.example:443/x"), "https://a.example/x");
  EXPECT_EQ(parsed("http://0x7f.1/"), "http://127.0.0.1/");
  EXPECT_EQ(parsed("http://2130706433/"), "http://127.0.0.1/");
  EXPECT_EQ(parsed("http://[0:0:0:0:0:0:0:1]/"), "http://[::1]/");
  EXPECT_EQ(parsed("http://b\xC3\xBC"
                   "cher.example/\xC3\xBC x?q=\xC3\xBC"),
            "http://xn--bcher-kva.example/%c3%bc%20x?q=%c3%bc");
}

TEST(WebUrl, WhatIsNoWebAddressIsRefused) {
  for (const char* text : {"",
                           "a.example",
                           "ftp://a.example/",
                           "file:///etc/passwd",
                           "gopher://a.example/",
                           "javascript:alert(1)",
                           "http://",
                           "http:///x",
                           "http://user@a.example/",
                           "http://user:word@a.example/",
                           "http://a.example:0/",
                           "http://a.example:70000/",
                           "http://a.example:x/",
                           "http://a.example\\@b.example/",
                           "http://a%00b.example/",
                           "http://a.example/\x01",
                           "http://[::1/",
                           "http://[v1.x]/",
                           "http://a b.example/",
                           "data:text/html,x"}) {
    EXPECT_EQ(parsed(text), "refused") << text;
  }
  EXPECT_EQ(parsed("http://a.example/" + std::string(kWebUrlBytesMax, 'x')), "refused");
}

TEST(WebUrl, AReferenceIsReadAgainstItsPage) {
  EXPECT_EQ(resolved("http://a.example/docs/page?x", "other"), "http://a.example/docs/other");
  EXPECT_EQ(resolved("http://a.example/docs/page", "../up"), "http://a.example/up");
  EXPECT_EQ(resolved("http://a.example/docs/page", "/root?q=1#f"), "http://a.example/root?q=1");
  EXPECT_EQ(resolved("http://a.example/docs/page", "//b.example/x"), "http://b.example/x");
  EXPECT_EQ(resolved("http://a.example/docs/page", "https://c.example"), "https://c.example/");
  EXPECT_EQ(resolved("http://a.example/docs/page?x=1", "?y=2"), "http://a.example/docs/page?y=2");
  EXPECT_EQ(resolved("http://a.example/docs/page?x=1", "#here"), "http://a.example/docs/page?x=1");
  EXPECT_EQ(resolved("http://a.example/docs/page?x=1", ""), "http://a.example/docs/page?x=1");
  EXPECT_EQ(resolved("http://a.example/", "mailto:x@a.example"), "refused");
  EXPECT_EQ(resolved("http://a.example/", "javascript:void(0)"), "refused");
  EXPECT_EQ(resolved("http://a.example/", "//user@b.example/"), "refused");
}

}  // namespace
}  // namespace footnote
