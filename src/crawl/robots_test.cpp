#include "crawl/robots.h"

#include <gtest/gtest.h>

namespace footnote::crawl {
namespace {

RobotsRules rules(std::string_view text) { return RobotsRules::parse(text, "footnote"); }

TEST(Robots, TheLongestMatchDecidesAndATieAllows) {
  const auto r = rules("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\nAllow: /same\nDisallow: /same\n");
  EXPECT_TRUE(r.allows("/"));
  EXPECT_FALSE(r.allows("/a"));
  EXPECT_FALSE(r.allows("/ax"));
  EXPECT_TRUE(r.allows("/a/b"));
  EXPECT_FALSE(r.allows("/a/b/c/d"));
  EXPECT_TRUE(r.allows("/same"));
  EXPECT_TRUE(r.allows("/A"));
}

TEST(Robots, StarAndEnd) {
  const auto r = rules("User-agent: *\nDisallow: /*.pdf$\nDisallow: /p*q*r\nDisallow: /end$\nDisallow: *x=1\n");
  EXPECT_FALSE(r.allows("/a/b.pdf"));
  EXPECT_TRUE(r.allows("/a/b.pdf?x"));
  EXPECT_FALSE(r.allows("/p1q2r3"));
  EXPECT_TRUE(r.allows("/p1r"));
  EXPECT_FALSE(r.allows("/end"));
  EXPECT_TRUE(r.allows("/end/"));
  EXPECT_FALSE(r.allows("/s?a=2&x=1"));
}

TEST(Robots, OurGroupsAreMergedAndReplaceThoseOfAll) {
  const auto r = rules(
      "User-agent: *\nDisallow: /all\nCrawl-delay: 9\n\nUser-agent: Footnote/2.0\nDisallow: /one\n\nUser-agent: other\nDisallow: /\n\n"
      "user-agent: x\nUSER-AGENT: footnote\nDisallow: /two\nCrawl-delay: 0.5\n");
  EXPECT_TRUE(r.allows("/all"));
  EXPECT_FALSE(r.allows("/one"));
  EXPECT_FALSE(r.allows("/two"));
  EXPECT_TRUE(r.allows("/three"));
  EXPECT_EQ(r.crawl_delay(), std::chrono::milliseconds{500});
}

TEST(Robots, AnotherCrawlersNameIsNotOurs) {
  EXPECT_TRUE(rules("User-agent: footnotes\nDisallow: /\n").allows("/x"));
  EXPECT_TRUE(rules("User-agent: foot\nDisallow: /\n").allows("/x"));
}

TEST(Robots, SpellingsOfAPathAreOne) {
  const auto r = rules("User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /caf\xC3\xA9\nDisallow: /a%2fb\n");
  EXPECT_FALSE(r.allows("/~joe/x"));
  EXPECT_FALSE(r.allows("/caf%C3%A9"));
  EXPECT_FALSE(r.allows("/caf%c3%a9"));
  EXPECT_FALSE(r.allows("/a%2Fb"));
  EXPECT_TRUE(r.allows("/a/b"));
}

TEST(Robots, OddFilesAreRead) {
  EXPECT_TRUE(rules("").allows("/x"));
  EXPECT_TRUE(rules("Disallow: /\n").allows("/x")) << "a rule outside a group means nothing";
  EXPECT_TRUE(rules("User-agent: *\nDisallow:\n").allows("/x"));
  EXPECT_FALSE(rules("\xEF\xBB\xBFUser-agent:*\rDisallow:/x # comment\r").allows("/x"));
  EXPECT_TRUE(rules("User-agent: *\nDisallow: /\n").allows("/robots.txt"));
  EXPECT_FALSE(RobotsRules::disallow_all().allows("/x"));
  EXPECT_TRUE(rules("<html><body>Not here</body></html>").allows("/x"));
  EXPECT_EQ(rules("Crawl-delay: 5\nUser-agent: *\nCrawl-delay: 1e9\n").crawl_delay(), kCrawlDelayMax);
}

TEST(Robots, SitemapsBelongToNoGroup) {
  const auto r = rules("User-agent: other\nSitemap: https://a.example/s.xml\nDisallow: /\nsitemap:/t.xml\n");
  EXPECT_EQ(r.sitemaps(), (std::vector<std::string>{"https://a.example/s.xml", "/t.xml"}));
}

TEST(Robots, ReadsHalfAMegabyteAndMatchesInBoundedTime) {
  std::string text = "User-agent: *\n";
  while (text.size() < kRobotsBytesMax) text += "Disallow: /" + std::string(40, 'a') + "*" + std::string(40, 'b') + "*c$\n";
  text += "Disallow: /late\n";
  const auto r = rules(text);
  EXPECT_TRUE(r.allows("/late"));
  EXPECT_GT(r.rule_count(), 1000u);
  const auto wild = rules("User-agent: *\nDisallow: /" + std::string(1000, '*') + "z$\n");
  EXPECT_TRUE(wild.allows("/" + std::string(2000, 'a')));
}

TEST(Robots, TagsOfAPage) {
  EXPECT_FALSE(read_robots_tag("noindex", "footnote").index);
  EXPECT_FALSE(read_robots_tag("NONE", "footnote").follow);
  EXPECT_TRUE(read_robots_tag("otherbot: noindex, nofollow", "footnote").index);
  EXPECT_TRUE(read_robots_tag("otherbot: noindex, nofollow", "footnote").follow);
  EXPECT_FALSE(read_robots_tag("otherbot: noindex, footnote: nofollow", "footnote").follow);
  EXPECT_FALSE(read_robots_tag("max-snippet:5, noindex", "footnote").index);
  EXPECT_TRUE(read_robots_tag("", "footnote").index);
}

}  // namespace
}  // namespace footnote::crawl
