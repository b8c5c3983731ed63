#include "crawl/web_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "crawl/web_source.h"
#include "fakes/fake_crawler.h"

namespace footnote::crawl {
namespace {

using ingest::ItemRead;

const std::string kOrigin = "http://site.example";

std::string long_text(const std::string& about) {
  std::string out;
  for (int i = 0; i < 12; ++i) out += "This sentence number " + std::to_string(i) + " is about " + about + ". ";
  return out;
}

std::string html_page(const std::string& title, const std::string& body, const std::vector<std::string>& links = {},
                      const std::string& head = {}) {
  std::string out = "<html><head><title>" + title + "</title>" + head + "</head><body><main><h1>" + title + "</h1><p>" + body + "</p>";
  for (const std::string& link : links) out += "<a href='" + link + "'>to " + link + "</a> ";
  return out + "</main></body></html>";
}

/// What a sync does with a reader: lists, reads everything that turns up, and keeps what it was given.
struct Crawled {
  std::map<std::string, ingest::MemoryDocument> documents;
  std::map<std::string, std::string> stamps;
  std::vector<std::string> gone;
  std::map<std::string, std::string> failed;
  std::map<std::string, std::size_t> outcomes;
  bool complete = true;
};

class WebReading : public ::testing::Test {
 protected:
  Result<Crawled> crawl(WebReaderOptions options, std::string start = kOrigin + "/", const Crawled& before = {}) {
    std::vector<std::string> known;
    for (const auto& [key, document] : before.documents) known.push_back(key);
    WebReader reader(web_, parse_web_url(start).value(), options, known, before.stamps);
    FOOTNOTE_TRY(ingest::SourceItems listed, reader.list({}));
    Crawled out = before;
    out.gone.clear();
    out.failed.clear();
    out.complete = listed.complete;
    std::set<std::string> keys;
    std::vector<ingest::SourceItem> items = listed.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!keys.insert(items[i].key).second) continue;
      FOOTNOTE_TRY(ItemRead read, reader.read({}, items[i]));
      const std::string key = items[i].key;
      items.insert(items.end(), read.found.begin(), read.found.end());
      if (read.state == ItemRead::State::kDocument) {
        out.documents[key] = read.document;
        out.stamps[key] = read.stamp;
      }
      if (read.state == ItemRead::State::kGone) {
        out.documents.erase(key);
        out.stamps.erase(key);
        out.gone.push_back(key);
      }
      if (read.state == ItemRead::State::kFailed) out.failed[key] = read.reason;
    }
    out.outcomes = reader.outcomes();
    return out;
  }
  void put(const std::string& path, const std::string& body) { web_.put_html(kOrigin + path, body); }

  fakes::FakeCrawler web_;
};

using Outcomes = std::map<std::string, std::size_t>;

TEST_F(WebReading, OnePageIsOneDocument) {
  put("/a", html_page("Short", "Few words.", {"/b"}));
  const auto out = crawl({.reach = Reach::kPage, .robots = false}, kOrigin + "/a");
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->documents.size(), 1u);
  EXPECT_EQ(out->documents.begin()->second.url, kOrigin + "/a");
  EXPECT_EQ(out->documents.begin()->second.media_type, "text/html");
  EXPECT_EQ(web_.requests().size(), 1u);
}

TEST_F(WebReading, ASiteIsFollowedByItsLinksOnItsHost) {
  put("/", html_page("Home", long_text("home"), {"/one", "two?utm_source=x", "https://elsewhere.example/", "/pic.png", "mailto:a@b.c"}));
  put("/one", html_page("One", long_text("one"), {"/deep", "/"}));
  put("/two", html_page("Two", long_text("two")));
  put("/deep", html_page("Deep", long_text("deep"), {"/deeper"}));
  put("/deeper", html_page("Deeper", long_text("deeper")));
  auto out = crawl({.reach = Reach::kSite, .depth = 2});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->documents.size(), 4u);
  EXPECT_FALSE(out->documents.contains(kOrigin + "/deeper"));
  EXPECT_EQ(out->outcomes, (Outcomes{{"kept", 4}, {"no page", 1}}));
  EXPECT_FALSE(out->complete);
  out = crawl({.reach = Reach::kSite, .pages_max = 2});
  EXPECT_EQ(out->documents.size(), 2u);
  EXPECT_EQ(out->outcomes.at("page limit"), 2u);
}

TEST_F(WebReading, WhatIsLeftOutHasAReason) {
  web_.put(kOrigin + "/robots.txt", {.status = 200, .media_type = "text/plain", .body = "User-agent: *\nDisallow: /private\n"});
  put("/", html_page(
               "Home", long_text("home"),
               {"/private/x", "/gone", "/soft", "/short", "/copy", "/from", "/out", "/canon", "/noindex", "/photo", "/broken", "/header"}));
  put("/soft", html_page("Page not found", "There is nothing here, sorry."));
  put("/short", html_page("S", "Few words."));
  put("/copy", html_page("Home", long_text("home"),
                         {"/private/x", "/gone", "/soft", "/short", "/copy", "/from", "/out", "/canon", "/noindex", "/photo", "/broken",
                          "/header"}));
  web_.put(kOrigin + "/from", {.status = 301, .location = "/target"});
  put("/target", html_page("Target", long_text("target")));
  web_.put(kOrigin + "/out", {.status = 302, .location = "http://elsewhere.example/"});
  web_.put_html("http://elsewhere.example/", html_page("Elsewhere", long_text("elsewhere")));
  put("/canon", html_page("Target", long_text("target"), {}, "<link rel=canonical href='/target'>"));
  put("/noindex", html_page("N", long_text("noindex"), {}, "<meta name=robots content=noindex>"));
  web_.put(kOrigin + "/photo", {.status = 200, .media_type = "image/png", .body = "x"});
  web_.break_off(kOrigin + "/broken");
  web_.put(kOrigin + "/header",
           {.status = 200, .media_type = "text/html", .body = html_page("H", long_text("header")), .robots = "noindex"});
  const auto out = crawl({.reach = Reach::kSite});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->outcomes, (Outcomes{{"kept", 2},
                                     {"robots.txt", 1},
                                     {"not found", 1},
                                     {"soft 404", 1},
                                     {"too short", 1},
                                     {"duplicate", 1},
                                     {"redirect", 1},
                                     {"another site", 1},
                                     {"canonical elsewhere", 1},
                                     {"noindex", 2},
                                     {"no page", 1},
                                     {"failed", 1}}));
  EXPECT_TRUE(out->documents.contains(kOrigin + "/target"));
  EXPECT_EQ(std::ranges::count(web_.requests(), kOrigin + "/target"), 1) << "the redirect brought it already";
  EXPECT_EQ(std::ranges::count(web_.requests(), kOrigin + "/private/x"), 0);
}

TEST_F(WebReading, ASecondCrawlTransfersOnlyWhatChanged) {
  put("/", html_page("Home", long_text("home"), {"/one", "/two", "/three"}));
  for (const char* name : {"one", "two", "three"}) put("/" + std::string(name), html_page(name, long_text(name)));
  const auto first = crawl({.reach = Reach::kSite});
  ASSERT_EQ(first->documents.size(), 4u);
  web_.forget_requests();
  const auto second = crawl({.reach = Reach::kSite}, kOrigin + "/", *first);
  EXPECT_EQ(second->outcomes, (Outcomes{{"unchanged", 4}}));
  const std::size_t missing_pages = 4 * std::string("missing").size();  // robots.txt, llms.txt, sitemap.xml, the probe
  EXPECT_EQ(web_.body_bytes(), missing_pages);
  put("/two", html_page("two", long_text("something else"), {"/four"}));
  put("/four", html_page("four", long_text("four")));
  web_.remove(kOrigin + "/three");
  const auto third = crawl({.reach = Reach::kSite}, kOrigin + "/", *second);
  EXPECT_EQ(third->outcomes, (Outcomes{{"unchanged", 2}, {"kept", 2}, {"not found", 1}}));
  EXPECT_EQ(third->gone, (std::vector<std::string>{kOrigin + "/three"}));
  EXPECT_EQ(third->documents.size(), 4u);
}

TEST_F(WebReading, APageThatMayNoLongerBeReadIsDeleted) {
  put("/", html_page("Home", long_text("home"), {"/one", "/two"}));
  for (const char* name : {"one", "two"}) put("/" + std::string(name), html_page(name, long_text(name)));
  const auto first = crawl({.reach = Reach::kSite});
  ASSERT_EQ(first->documents.size(), 3u);
  web_.put(kOrigin + "/robots.txt", {.status = 200, .media_type = "text/plain", .body = "User-agent: *\nDisallow: /two\n"});
  web_.forget_requests();
  const auto second = crawl({.reach = Reach::kSite}, kOrigin + "/", *first);
  EXPECT_EQ(second->outcomes, (Outcomes{{"unchanged", 2}, {"robots.txt", 1}}));
  EXPECT_EQ(second->gone, (std::vector<std::string>{kOrigin + "/two"}));
  EXPECT_EQ(std::ranges::count(web_.requests(), kOrigin + "/two"), 0);
}

TEST_F(WebReading, ASiteThatCannotBeReadDeletesNothing) {
  put("/", html_page("Home", long_text("home")));
  web_.put(kOrigin + "/robots.txt", {.status = 503, .media_type = "text/plain", .body = ""});
  EXPECT_EQ(crawl({.reach = Reach::kSite}).error().code, ErrorCode::kUnavailable);
  web_.break_off(kOrigin + "/robots.txt");
  EXPECT_EQ(crawl({.reach = Reach::kSite}).error().code, ErrorCode::kUnavailable);
  web_.remove(kOrigin + "/robots.txt");
  web_.put(kOrigin + "/", {.status = 500, .media_type = "text/html", .body = "oops"});
  const auto out = crawl({.reach = Reach::kSite});
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->gone.empty());
  EXPECT_EQ(out->failed.size(), 1u);
}

TEST_F(WebReading, SitemapsAreReadOnceHoweverTheyPointAtEachOther) {
  web_.put(kOrigin + "/index.xml", {.status = 200,
                                    .media_type = "application/xml",
                                    .body = "<sitemapindex><sitemap><loc>/index.xml</loc></sitemap><sitemap><loc>/a.xml</loc></sitemap>"
                                            "<sitemap><loc>http://other.example/s.xml</loc></sitemap></sitemapindex>"});
  web_.put(kOrigin + "/a.xml", {.status = 200,
                                .media_type = "application/xml",
                                .body = "<urlset><url><loc>http://site.example/1</loc></url><url><loc>/2</loc></url>"
                                        "<url><loc>http://other.example/3</loc></url></urlset>"});
  put("/1", html_page("1", long_text("one"), {"/linked"}));
  put("/2", html_page("2", long_text("two")));
  put("/linked", html_page("L", long_text("linked")));
  const auto out = crawl({.reach = Reach::kSitemap}, kOrigin + "/index.xml");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->documents.size(), 2u);
  EXPECT_FALSE(out->complete) << "a part of it is on another site";
  EXPECT_EQ(std::ranges::count(web_.requests(), kOrigin + "/index.xml"), 1);
  EXPECT_TRUE(crawl({.reach = Reach::kSitemap}, kOrigin + "/a.xml")->complete);
  EXPECT_FALSE(crawl({.reach = Reach::kSitemap}, kOrigin + "/1"));
}

TEST_F(WebReading, AFeedsEntriesAreRead) {
  web_.put(kOrigin + "/feed", {.status = 200,
                               .media_type = "application/rss+xml",
                               .body = "<rss><channel><item><link>http://site.example/1</link></item></channel></rss>"});
  put("/1", html_page("1", long_text("one")));
  const auto out = crawl({.reach = Reach::kFeed}, kOrigin + "/feed");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->documents.size(), 1u);
  EXPECT_FALSE(out->complete);
}

TEST_F(WebReading, MarkdownTwinsComeFirst) {
  web_.put(kOrigin + "/llms.txt", {.status = 200, .media_type = "text/plain", .body = "# Site\n## Docs\n- [Guide](/guide.md)\n"});
  web_.put(kOrigin + "/guide.md", {.status = 200, .media_type = "text/plain", .body = "# Guide\n\n" + long_text("the guide")});
  web_.put(kOrigin + "/api.txt", {.status = 200, .media_type = "text/markdown", .body = "# API\n\n" + long_text("the interface in full")});
  put("/", html_page("Home", long_text("home"), {"/guide", "/guide.html", "/api"}));
  put("/guide", html_page("Guide", long_text("the guide")));
  put("/api", html_page("API", long_text("the interface"), {}, "<link rel=alternate type='text/markdown' href='/api.txt'>"));
  const auto out = crawl({.reach = Reach::kSite});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->documents.size(), 3u);
  EXPECT_EQ(out->documents.at(kOrigin + "/guide.md").media_type, "text/markdown");
  EXPECT_EQ(out->documents.at(kOrigin + "/api").media_type, "text/markdown");
  EXPECT_TRUE(out->documents.at(kOrigin + "/api").content.starts_with("# API"));
  EXPECT_EQ(std::ranges::count(web_.requests(), kOrigin + "/guide"), 0);
}

TEST_F(WebReading, ATrapEnds) {
  put("/", html_page("Home", long_text("home"), {"/cal/0"}));
  for (int i = 0; i < 300; ++i) {
    put("/cal/" + std::to_string(i), "<html><head><title>Calendar</title></head><body><nav><a href='/cal/" + std::to_string(i + 1) +
                                         "'>next</a></nav><main><p>" + long_text("nothing") + "</p></main></body></html>");
  }
  const auto out = crawl({.reach = Reach::kSite, .depth = 50});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->outcomes, (Outcomes{{"kept", 2}, {"duplicate", TrapGuard::kPatternPagesMin}, {"trap", 1}}));
}

TEST_F(WebReading, ACharsetOfTheHeaderIsUsed) {
  web_.put(kOrigin + "/a",
           {.status = 200, .media_type = "text/html", .charset = "windows-1251", .body = "<p>\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0</p>"});
  const auto out = crawl({.reach = Reach::kPage, .robots = false}, kOrigin + "/a");
  ASSERT_TRUE(out);
  EXPECT_NE(out->documents.at(kOrigin + "/a").content.find("\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82"), std::string::npos);
}

TEST(WebSources, OptionsAreChecked) {
  EXPECT_EQ(read_web_options(SourceKind::kUrl, {})->reach, Reach::kPage);
  EXPECT_EQ(read_web_options(SourceKind::kUrl, {{"site", "true"}, {"depth", "3"}})->depth, 3u);
  EXPECT_EQ(read_web_options(SourceKind::kUrl, {{"depth", "x"}}).error().field, "depth");
  EXPECT_EQ(read_web_options(SourceKind::kUrl, {{"max_pages", "100001"}}).error().field, "max_pages");
  EXPECT_EQ(read_web_options(SourceKind::kSitemap, {{"max_pages", "100000"}})->pages_max, kPagesMax);
}

}  // namespace
}  // namespace footnote::crawl
