// A site of 2,000 addresses: what is kept, what is left out and why, and what a second crawl costs.
#include <gtest/gtest.h>
#include <zlib.h>

#include "crawl/web_source.h"
#include "fakes/fake_crawler.h"
#include "fakes/fake_embedder.h"
#include "fakes/memory_store.h"
#include "ingest/ingestor.h"

namespace footnote::crawl {
namespace {

const std::string kSite = "http://furniture.example";
constexpr int kAddresses = 2'000;
constexpr int kKept = kAddresses / 2;
constexpr int kOfEachSort = kAddresses / 20;

std::string words_of(int number) {
  constexpr const char* kFacts[] = {"is made of seasoned oak and weighs {} kilograms.", "is delivered within {} working days of the order.",
                                    "may be returned within {} days if it was not used.", "is repaired by the workshop in hall {}."};
  std::string out;
  for (std::size_t i = 0; i < std::size(kFacts); ++i) {
    out += fmt::format("<p>The model {} of the series {} ", number, number * 7 + 1) +
           fmt::format(fmt::runtime(kFacts[i]), number * 3 + static_cast<int>(i)) + "</p>";
  }
  return out;
}

std::string site_page(const std::string& title, const std::string& body, const std::vector<std::string>& links = {},
                      const std::string& head = {}) {
  std::string out = "<html><head><title>" + title + "</title>" + head + "</head><body><nav>";
  for (const std::string& link : links) out += "<a href='" + link + "'>" + link + "</a> ";
  return out + "</nav><main><h1>" + title + "</h1>" + body + "</main></body></html>";
}

std::string packed(std::string_view text) {
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

class WholeSite : public ::testing::Test {
 protected:
  using Outcomes = std::map<std::string, std::size_t>;

  static std::string path(const char* sort, int number) { return fmt::format("/{}/{}", sort, number); }

  WholeSite() {
    web_.put(kSite + "/robots.txt",
             {.status = 200, .media_type = "text/plain", .body = "User-agent: *\nDisallow: /private/\nSitemap: /sitemap.xml\n"});
    std::vector<std::string> links;
    std::string in_sitemap;
    for (int i = 0; i < kKept; ++i) {
      put_page(i);
      if (i < kKept / 2) {
        if (i % 4 == 0) links.push_back(path("page", i));
      } else {
        in_sitemap += "<url><loc>" + kSite + path("page", i) + "</loc></url>";
      }
    }
    for (int i = 0; i < kOfEachSort; ++i) {
      for (const char* sort : {"private", "missing", "soft", "from", "canonical", "hidden", "tiny", "broken", "copy", "photo"}) {
        links.push_back(path(sort, i));
      }
      web_.put_html(kSite + path("soft", i), site_page("Page not found", fmt::format("<p>Nothing is at place {}.</p>", i)));
      web_.put(kSite + path("from", i), {.status = 301, .location = path("page", i)});
      web_.put_html(kSite + path("canonical", i), site_page("C", words_of(i), {}, "<link rel=canonical href='" + path("page", i) + "'>"));
      web_.put_html(kSite + path("hidden", i), site_page("H", words_of(9'000 + i), {}, "<meta name=robots content=noindex>"));
      web_.put_html(kSite + path("tiny", i), site_page("T", fmt::format("<p>Tiny {}.</p>", i)));
      web_.put(kSite + path("broken", i), {.status = 500, .media_type = "text/html", .body = "broken"});
      web_.put_html(kSite + path("copy", i), site_page(fmt::format("Model {}", i), words_of(i)));
      web_.put(kSite + path("photo", i), {.status = 200, .media_type = "image/png", .body = "png"});
    }
    web_.put_html(kSite + "/", site_page("Home", words_of(99'999), links));
    web_.put(kSite + "/sitemap.xml", {.status = 200,
                                      .media_type = "application/xml",
                                      .body = "<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap><sitemap><loc>/pages.xml.gz</loc>"
                                              "</sitemap></sitemapindex>"});
    web_.put(kSite + "/pages.xml.gz",
             {.status = 200, .media_type = "application/gzip", .body = packed("<urlset>" + in_sitemap + "</urlset>")});
  }

  void put_page(int i) {
    std::vector<std::string> next;
    for (int n = i + 1; n < i + 4 && n < kKept; ++n) next.push_back(path("page", n));
    web_.put_html(kSite + path("page", i), site_page(fmt::format("Model {}", i), words_of(i), next));
  }

  /// What the sync of a source does with a kind's reader.
  Outcomes sync() {
    const WebSourceKind kind(SourceKind::kUrl, web_, store_);
    SourceRecord record{.id = source_, .workspace = {}, .spec = {.corpus = corpus_.id, .kind = SourceKind::kUrl, .location = kSite + "/"}};
    record.spec.options = {{"site", "true"}, {"depth", "50"}, {"max_pages", "10000"}};
    const auto reader = kind.open({}, record, stamps_).value();
    auto items = reader->list({}).value().items;
    std::vector<std::string> gone;
    std::set<std::string> keys;
    for (const auto& item : items) keys.insert(item.key);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto item = items[i];
      auto read = reader->read({}, item).value();
      for (auto& found : read.found) {
        if (keys.insert(found.key).second) items.push_back(std::move(found));
      }
      if (read.state == ingest::ItemRead::State::kDocument) {
        EXPECT_TRUE(ingestor_.ingest_documents({}, corpus_, source_, {&read.document, 1}));
        stamps_[item.key] = read.stamp;
      }
      if (read.state == ingest::ItemRead::State::kGone) gone.push_back(item.key);
    }
    EXPECT_TRUE(ingestor_.delete_documents({}, corpus_, gone));
    return static_cast<const WebReader&>(*reader).outcomes();
  }

  fakes::FakeCrawler web_;
  ManualClock clock_{UtcTime{}};
  fakes::MemoryStore store_{clock_};
  fakes::FakeEmbedder embedder_;
  ingest::Ingestor ingestor_{store_, embedder_, nullptr};
  const Corpus corpus_ = store_.ensure_corpus({}, store_.find_workspace({}, kDefaultWorkspace)->id, "site", embedder_.space()).value();
  const SourceId source_ = store_.ensure_source({}, corpus_.id, SourceKind::kUrl, kSite + "/").value().id;
  std::map<std::string, std::string> stamps_;
};

TEST_F(WholeSite, IsReadOnceAndThenByItsChanges) {
  const std::size_t each = kOfEachSort;
  EXPECT_EQ(sync(), (Outcomes{{"kept", kKept + 1},
                              {"robots.txt", each},
                              {"not found", each},
                              {"soft 404", each},
                              {"redirect", each},
                              {"canonical elsewhere", each},
                              {"noindex", each},
                              {"too short", each},
                              {"failed", each},
                              {"duplicate", each},
                              {"no page", each}}));
  EXPECT_EQ(store_.counts({}, corpus_.id)->documents, kKept + 1);
  const std::size_t embedded = embedder_.texts();
  web_.forget_requests();
  EXPECT_EQ(sync(), (Outcomes{{"unchanged", kKept + 1}}));
  EXPECT_EQ(embedder_.texts(), embedded) << "an unchanged page is not embedded again";
  EXPECT_LT(web_.body_bytes(), 30'000u) << "the lists of the site, and no page";
  // One page changes, one goes, one is new and linked from the changed one.
  web_.put_html(kSite + "/page/303", site_page("Model 303", words_of(70'003), {"/new"}));
  web_.put_html(kSite + "/new", site_page("New", words_of(70'004)));
  web_.remove(kSite + "/page/305");
  EXPECT_EQ(sync(), (Outcomes{{"unchanged", kKept - 1}, {"kept", 2}, {"not found", 1}}));
  EXPECT_FALSE(store_.find_document({}, corpus_.id, kSite + "/page/305")->has_value());
  EXPECT_TRUE(store_.find_document({}, corpus_.id, kSite + "/new")->has_value());
  EXPECT_EQ(store_.counts({}, corpus_.id)->documents, kKept + 1);
}

}  // namespace
}  // namespace footnote::crawl
