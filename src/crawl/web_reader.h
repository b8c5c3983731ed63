#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/page_rules.h"
#include "crawl/robots.h"
#include "engine/html/links.h"
#include "engine/url/web_url.h"
#include "ingest/source_kind.h"
#include "ports/crawler.h"

namespace footnote::crawl {

/// The name that robots.txt files know us by, and the User-Agent begins with.
inline constexpr std::string_view kProduct = "footnote";
inline constexpr std::size_t kDepthDefault = 5;
inline constexpr std::size_t kDepthMax = 50;
inline constexpr std::size_t kPagesDefault = 2'000;
inline constexpr std::size_t kPagesMax = 100'000;
/// Sitemaps read for one source, and how deep indexes may be nested.
inline constexpr std::size_t kSitemapsMax = 200;
inline constexpr int kSitemapDepthMax = 2;
/// Bytes of one page.
inline constexpr std::size_t kPageBytesMax = 16u << 20;

/// Pages that a redirect brought are kept until their turn, at most so many of at most this size; others are fetched again.
inline constexpr std::size_t kAheadMax = 64;
inline constexpr std::size_t kAheadBytesMax = 1u << 20;

enum class Reach { kPage, kSite, kSitemap, kFeed };

struct WebReaderOptions {
  Reach reach = Reach::kPage;
  std::size_t depth = kDepthDefault;      ///< Of a site: links from the first page.
  std::size_t pages_max = kPagesDefault;  ///< Requested in one sync; further ones are counted.
  bool robots = true;                     ///< Off only for pages that their owner named one by one.
};

/// Pages of the web as the items of a source. An item's key is the page's canonical address.
///
/// A site: the pages of its llms.txt, sitemaps and links, on the same host. What the store holds of it already is asked for again, so that
/// a page which is gone is noticed although nothing links to it. Nothing is deleted because a listing is short: only because a page says
/// so (404, 410, noindex, robots.txt, a redirect or a canonical address elsewhere). A sitemap is the list of its source: what leaves it is
/// deleted, unless a part of it could not be read. A feed forgets old entries; their pages stay.
///
/// kUnavailable from list(): robots.txt or the list itself cannot be read at the moment.
class WebReader final : public ingest::SourceReader {
 public:
  /// `known`: keys of the source's live documents. `stamps`: of the last sync. Borrows the crawler.
  WebReader(Crawler& crawler, WebUrl start, WebReaderOptions options, std::vector<std::string> known,
            std::map<std::string, std::string> stamps)
      : crawler_(crawler), start_(std::move(start)), options_(options), known_(std::move(known)), stamps_(std::move(stamps)) {}

  Result<ingest::SourceItems> list(const CallContext& call) override;
  Result<ingest::ItemRead> read(const CallContext& call, const ingest::SourceItem& item) override;

  /// Pages so far by what came of them: "kept", "unchanged", and why others were left out ("robots.txt", "duplicate", "not found").
  const std::map<std::string, std::size_t>& outcomes() const { return outcomes_; }

 private:
  struct Target {
    WebUrl url;
    std::size_t depth = 0;
    bool named = false;  ///< By the owner of the source.
  };
  Result<void> read_robots(const CallContext& call);
  void probe_missing_page(const CallContext& call);
  Result<bool> list_sitemaps(const CallContext& call, std::vector<ingest::SourceItem>& items);
  void list_site(const CallContext& call, std::vector<ingest::SourceItem>& items);
  Result<void> list_feed(const CallContext& call, std::vector<ingest::SourceItem>& items);
  void add(std::vector<ingest::SourceItem>& items, const Target& target);
  void add_reference(std::vector<ingest::SourceItem>& items, const WebUrl& base, std::string_view reference, std::size_t depth);
  bool is_same_site(const WebUrl& url) const;

  Result<FetchedPage> fetch_page(const CallContext& call, const ingest::SourceItem& item, const WebUrl& url);
  Result<ingest::ItemRead> take_page(const CallContext& call, const ingest::SourceItem& item, const Target& target, FetchedPage page);
  Result<ingest::ItemRead> take_html(const CallContext& call, const Target& target, FetchedPage& page, ingest::ItemRead out);
  void take_twin(const CallContext& call, const html::PageLinks& links, const WebUrl& base, ingest::ItemRead& out);
  void find_links(const Target& target, const html::PageLinks& links, const WebUrl& base, ingest::ItemRead& out);
  ingest::ItemRead left_out(const Target& target, std::string reason, ingest::ItemRead out = {});
  ingest::ItemRead moved(const Target& target, FetchedPage page, const WebUrl& to, std::string reason);

  Crawler& crawler_;
  const WebUrl start_;
  const WebReaderOptions options_;
  const std::vector<std::string> known_;
  const std::map<std::string, std::string> stamps_;
  RobotsRules robots_;
  SoftNotFound soft_not_found_;
  TrapGuard traps_;
  std::set<std::string> seen_;  ///< Keys that were listed, or left out before a request.
  std::size_t listed_ = 0;
  std::set<std::string> covered_;             ///< Keys whose text came from their Markdown twin.
  std::set<std::string> texts_;               ///< Digests of the kept pages' texts.
  std::map<std::string, FetchedPage> ahead_;  ///< Pages that a redirect brought, by key, until they are asked for.
  std::map<std::string, std::size_t> outcomes_;
};

/// A page's stamp: its ETag and Last-Modified.
std::string page_stamp(const FetchedPage& page);

}  // namespace footnote::crawl
