#include "base/page_url.h"

#include <gtest/gtest.h>

namespace footnote {
namespace {

TEST(PageUrl, OnePageHasOneSpelling) {
  const std::string page = "https://shop.example/returns";
  for (const char* spelling :
       {"https://shop.example/returns", "https://shop.example/returns/", "HTTPS://Shop.Example/returns", "https://shop.example:443/returns",
        "https://shop.example/returns#how", "https://shop.example/returns?utm_source=mail&utm_medium=x",
        "https://shop.example/returns?gclid=1&fbclid=2", "https://shop.example/returns?UTM_Campaign=x",
        "  https://shop.example/returns//  ", "https://shop.example/returns/?#"}) {
    EXPECT_EQ(canonical_url(spelling), page) << spelling;
  }
}

TEST(PageUrl, PathsAreEncodedAsBrowsersDo) {
  const std::string page = "https://shop.example/gr%C3%B6%C3%9Fen?q=%E3%80%80x";
  EXPECT_EQ(canonical_url("https://shop.example/gr\xC3\xB6\xC3\x9F"
                          "en?q=\xE3\x80\x80x"),
            page);
  EXPECT_EQ(canonical_url("https://shop.example/gr%c3%b6%C3%9fen/?q=%e3%80%80x"), page);
  EXPECT_EQ(canonical_url("https://shop.example/a\"b<c>`{}|^%zz%4"), "https://shop.example/a%22b%3Cc%3E%60%7B%7D%7C%5E%zz%4");
}

TEST(PageUrl, ItsOriginIsWhatStandsBeforeThePath) {
  EXPECT_EQ(origin_of("https://shop.example/a/b?c"), "https://shop.example");
  EXPECT_EQ(origin_of("http://shop.example:8080?c"), "http://shop.example:8080");
  EXPECT_EQ(origin_of("https://shop.example"), "https://shop.example");
  EXPECT_EQ(origin_of(""), "");
}

TEST(PageUrl, WhatMakesAnotherPageStays) {
  EXPECT_EQ(canonical_url("https://shop.example/Returns"), "https://shop.example/Returns") << "paths know case";
  EXPECT_EQ(canonical_url("https://shop.example/p?id=7&utm_term=x&size=L"), "https://shop.example/p?id=7&size=L");
  EXPECT_EQ(canonical_url("https://shop.example/p?utmost=1"), "https://shop.example/p?utmost=1");
  EXPECT_EQ(canonical_url("http://shop.example:8080/"), "http://shop.example:8080");
  EXPECT_EQ(canonical_url("http://shop.example:443/"), "http://shop.example:443") << "443 is not http's own";
  EXPECT_EQ(canonical_url("http://shop.example:80/"), "http://shop.example");
  EXPECT_EQ(canonical_url("https://shop.example?id=7"), "https://shop.example?id=7");
  EXPECT_EQ(canonical_url("https://[2001:DB8::1]:443/a"), "https://[2001:db8::1]/a");
}

TEST(PageUrl, WhatIsNoPageHasNone) {
  for (const char* other :
       {"", "shop.example/returns", "ftp://shop.example/", "javascript:alert(1)", "https://", "https:///returns", "https://:443/",
        "https://user@shop.example/", "https://shop.example:443:443/", "https://shop.example:x/", "https://[::1/", "https://[::1]x/",
        "https://shop.example/a b", "https://shop.example/a\nb", "https://shop.example\\@evil.example/"}) {
    EXPECT_FALSE(canonical_url(other).has_value()) << other;
  }
}

TEST(PageUrl, ItsLengthIsBounded) {
  const std::string start = "https://shop.example/";
  EXPECT_TRUE(canonical_url(start + std::string(kPageUrlBytesMax - start.size(), 'a')).has_value());
  EXPECT_FALSE(canonical_url(start + std::string(kPageUrlBytesMax - start.size() + 1, 'a')).has_value());
  EXPECT_FALSE(canonical_url(start + std::string(kPageUrlBytesMax - start.size(), '"')).has_value());  // %22 each
}

TEST(PageUrl, APageIsUnderWholeSegmentsOfItsPath) {
  EXPECT_TRUE(is_page_under("https://shop.example/returns", "https://shop.example/returns"));
  EXPECT_TRUE(is_page_under("https://shop.example/returns/eu", "https://shop.example/returns"));
  EXPECT_TRUE(is_page_under("https://shop.example/returns?step=2", "https://shop.example/returns"));
  EXPECT_TRUE(is_page_under("https://shop.example/returns", "https://shop.example"));
  EXPECT_TRUE(is_page_under("https://shop.example/p?id=7&size=L", "https://shop.example/p?id=7"));
  EXPECT_FALSE(is_page_under("https://shop.example/returnsome", "https://shop.example/returns"));
  EXPECT_FALSE(is_page_under("https://shop.example.evil.example/", "https://shop.example"));
  EXPECT_FALSE(is_page_under("https://shop.example/p?id=77", "https://shop.example/p?id=7"));
  EXPECT_FALSE(is_page_under("https://shop.example", "https://shop.example/returns"));
}

}  // namespace
}  // namespace footnote
