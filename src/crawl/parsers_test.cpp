#include <gtest/gtest.h>
#include <zlib.h>

#include "crawl/feed.h"
#include "crawl/llms_txt.h"
#include "crawl/page_rules.h"
#include "crawl/sitemap.h"

namespace footnote::crawl {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

TEST(Sitemaps, PagesAndIndexes) {
  const auto pages = parse_sitemap(
      "<?xml version='1.0'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:image='i'><url><loc> https://a.example/1 "
      "</loc><lastmod>2026-01-02</lastmod><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>"
      "<url><loc>https://a.example/2?a&amp;b</loc></url><url/></urlset>");
  ASSERT_TRUE(pages) << pages.error().message;
  ASSERT_EQ(pages->pages.size(), 2u);
  EXPECT_EQ(pages->pages[0].url, "https://a.example/1");
  EXPECT_EQ(pages->pages[0].modified, "2026-01-02");
  EXPECT_EQ(pages->pages[1].url, "https://a.example/2?a&b");
  const auto index = parse_sitemap("<sitemapindex><sitemap><loc>/s1.xml.gz</loc></sitemap></sitemapindex>");
  ASSERT_TRUE(index);
  ASSERT_EQ(index->sitemaps.size(), 1u);
  EXPECT_TRUE(index->pages.empty());
  const auto lines = parse_sitemap("https://a.example/1\r\nhttps://a.example/2\n");
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->pages.size(), 2u);
}

TEST(Sitemaps, WhatIsNoneIsRefusedAndWhatIsDamagedIsReadSoFar) {
  EXPECT_FALSE(parse_sitemap("<html><body/></html>"));
  EXPECT_FALSE(parse_sitemap("hello"));
  EXPECT_FALSE(parse_sitemap("<urlset"));
  EXPECT_FALSE(parse_sitemap("<!DOCTYPE x [<!ENTITY a 'b'>]><urlset/>"));
  const auto cut = parse_sitemap("<urlset><url><loc>https://a.example/1</loc></url><url><loc>https://a");
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->cut);
  EXPECT_EQ(cut->pages.size(), 1u);
}

TEST(Sitemaps, HaveALimit) {
  std::string text = "<urlset>";
  for (std::size_t i = 0; i <= kSitemapEntriesMax; ++i) text += "<url><loc>https://a.example/x</loc></url>";
  const auto many = parse_sitemap(text + "</urlset>");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->pages.size(), kSitemapEntriesMax);
  EXPECT_TRUE(many->cut);
}

TEST(Sitemaps, GzipIsUnpackedWithinItsLimit) {
  EXPECT_EQ(unpack_gzip(gzip("hello"), 100).value(), "hello");
  EXPECT_EQ(unpack_gzip("plain", 100).value(), "plain");
  const std::string bomb = gzip(std::string(10u << 20, 'x'));
  EXPECT_LT(bomb.size(), 20'000u);
  EXPECT_EQ(unpack_gzip(bomb, 1u << 20).error().code, ErrorCode::kTooLarge);
  EXPECT_FALSE(unpack_gzip(bomb.substr(0, 100), 1u << 20));
  EXPECT_FALSE(
      unpack_gzip("\x1F\x8B"
                  "nonsense",
                  100));
}

TEST(Feeds, RssAtomAndRdf) {
  const auto rss = parse_feed(
      "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>News</title><atom:link rel='self' href='/self'/>"
      "<item><title> One\n two </title><link>https://a.example/1</link><pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate></item>"
      "<item><guid isPermaLink='true'>https://a.example/2</guid></item><item><guid isPermaLink='false'>x</guid></item></channel></rss>");
  ASSERT_TRUE(rss) << rss.error().message;
  EXPECT_EQ(rss->title, "News");
  ASSERT_EQ(rss->entries.size(), 2u);
  EXPECT_EQ(rss->entries[0].url, "https://a.example/1");
  EXPECT_EQ(rss->entries[0].title, "One two");
  EXPECT_EQ(rss->entries[0].updated, "Mon, 06 Sep 2021 00:01:00 +0000");
  EXPECT_EQ(rss->entries[1].url, "https://a.example/2");
  const auto atom = parse_feed(
      "<feed xmlns='http://www.w3.org/2005/Atom'><title>A</title><entry><link rel='edit' href='/edit'/><link href='/page'/>"
      "<published>2026-01-01T00:00:00Z</published><updated>2026-02-01T00:00:00Z</updated></entry></feed>");
  ASSERT_TRUE(atom);
  ASSERT_EQ(atom->entries.size(), 1u);
  EXPECT_EQ(atom->entries[0].url, "/page");
  EXPECT_EQ(atom->entries[0].updated, "2026-02-01T00:00:00Z");
  const auto rdf =
      parse_feed("<rdf:RDF xmlns:rdf='r'><channel><title>R</title></channel><item><link>https://a.example/r</link></item></rdf:RDF>");
  ASSERT_TRUE(rdf);
  EXPECT_EQ(rdf->entries.size(), 1u);
  EXPECT_FALSE(parse_feed("<html/>"));
  EXPECT_FALSE(parse_feed("text"));
}

TEST(LlmsTxts, LinksBySection) {
  const auto list = parse_llms_txt(
      "\n# Project\n\n> A short\n> summary.\n\nText with [no list](x).\n\n## Docs\n\n- [Guide](https://a.example/guide.md): how to\n"
      "* [API](/api.html.md \"title\")\n- no link\n- [broken](\n## Optional\n- [More](more.md)\n");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->title, "Project");
  EXPECT_EQ(list->summary, "A short summary.");
  ASSERT_EQ(list->links.size(), 3u);
  EXPECT_EQ(list->links[0].url, "https://a.example/guide.md");
  EXPECT_EQ(list->links[1].url, "/api.html.md");
  EXPECT_FALSE(list->links[1].optional);
  EXPECT_TRUE(list->links[2].optional);
  EXPECT_FALSE(parse_llms_txt("<!doctype html><h1>x"));
  EXPECT_FALSE(parse_llms_txt(""));
}

TEST(SoftNotFounds, BySayingSoOrByLookingLikeAMissingPage) {
  SoftNotFound rule;
  EXPECT_TRUE(rule.matches("Page not found - Shop", "Sorry."));
  EXPECT_TRUE(rule.matches("Shop", "Seite nicht gefunden\n\nZur Startseite"));
  EXPECT_FALSE(rule.matches("Returns", "You can send back any item."));
  EXPECT_FALSE(rule.matches("Fixing error 404 on nginx", std::string(2000, 'x')));
  rule.learn("Welcome to our shop. The thing you look for at /no-such-9f3 is elsewhere, try the search.");
  EXPECT_TRUE(rule.matches("Shop", "Welcome to our shop. The thing you look for at /gone-17 is elsewhere, try the search."));
  EXPECT_FALSE(rule.matches("Shop", "Welcome to our shop. Here is a lamp for reading at night, made of oak and brass, with a long cord."));
}

bool admits(TrapGuard& guard, const std::string& path) { return guard.admit(parse_web_url("http://a.example" + path).value()); }

TEST(Traps, GrowingPathsAndEndlessVariants) {
  TrapGuard guard;
  EXPECT_TRUE(admits(guard, "/a/b/a/b"));
  EXPECT_FALSE(admits(guard, "/a/b/a/b/a/b/a/b"));
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "/p" + std::to_string(i);
  EXPECT_FALSE(admits(guard, deep));
  for (std::size_t i = 0; i < TrapGuard::kQueryVariantsMax; ++i) EXPECT_TRUE(admits(guard, "/list?page=" + std::to_string(i) + "&sort=x"));
  EXPECT_FALSE(admits(guard, "/list?sort=y&page=1"));
  EXPECT_TRUE(admits(guard, "/list?other=1"));
}

TEST(Traps, APatternThatBringsNothingNew) {
  TrapGuard calendar;
  TrapGuard shop;
  for (std::size_t i = 0; i < TrapGuard::kPatternPagesMin; ++i) {
    const auto url = parse_web_url("http://a.example/x/" + std::to_string(i)).value();
    EXPECT_TRUE(calendar.admit(url));
    calendar.note(url, i < 2);
    shop.note(url, i % 2 == 0);
  }
  EXPECT_FALSE(admits(calendar, "/x/999"));
  EXPECT_TRUE(admits(calendar, "/y/999"));
  EXPECT_TRUE(admits(shop, "/x/999"));
}

TEST(Media, AreNotAskedFor) {
  EXPECT_TRUE(is_media_path("/a/b.JPG"));
  EXPECT_TRUE(is_media_path("/x.zip"));
  EXPECT_FALSE(is_media_path("/a.b/c"));
  EXPECT_FALSE(is_media_path("/guide.html"));
  EXPECT_FALSE(is_media_path("/paper.pdf"));
}

}  // namespace
}  // namespace footnote::crawl
