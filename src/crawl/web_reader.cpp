#include "crawl/web_reader.h"

#include <algorithm>

#include "base/page_url.h"
#include "base/sha256.h"
#include "base/text.h"
#include "crawl/feed.h"
#include "crawl/llms_txt.h"
#include "crawl/page_body.h"
#include "crawl/sitemap.h"
#include "engine/html/extract.h"

namespace footnote::crawl {

namespace {

using ingest::ItemRead;
using ingest::SourceItem;

/// A page's key: its canonical address. Empty if it can't be one.
std::string key_of(const WebUrl& url) {
  const auto key = canonical_url(url.text);
  return key && ingest::key_problem(*key).empty() ? *key : std::string();
}

std::string stamp_part(std::string_view stamp, std::size_t number) {
  const auto parts = split(stamp, '\n');
  return number < parts.size() ? std::string(parts[number]) : std::string();
}

std::string without_suffix(std::string_view text, std::string_view suffix) {
  return std::string(text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text);
}

}  // namespace

std::string page_stamp(const FetchedPage& page) { return "page\n" + page.etag + "\n" + page.last_modified; }

bool WebReader::is_same_site(const WebUrl& url) const {
  const auto bare = [](std::string_view host) { return host.starts_with("www.") ? host.substr(4) : host; };
  const bool same_port = url.port == start_.port || (!url.secure && url.port == 80 && start_.port == 443) ||
                         (url.secure && url.port == 443 && start_.port == 80);
  return bare(url.host) == bare(start_.host) && same_port;
}

void WebReader::add(std::vector<SourceItem>& items, const Target& target) {
  const std::string key = key_of(target.url);
  if (key.empty() || covered_.contains(key) || seen_.contains(key)) return;
  const auto skip = [&](const char* reason) {
    seen_.insert(key);
    ++outcomes_[reason];
  };
  if (!target.named) {
    if (is_media_path(target.url.path)) return skip("no page");
    if (options_.robots && !robots_.allows(target.url.path + (target.url.query.empty() ? "" : "?" + target.url.query))) {
      return skip("robots.txt");
    }
    if (!traps_.admit(target.url)) return skip("trap");
  }
  if (listed_ >= options_.pages_max) return skip("page limit");
  ++listed_;
  seen_.insert(key);
  // The key has no tracking parameters; the address keeps its trailing slash.
  const std::size_t query = std::min(key.find('?'), key.size());
  const std::string url = target.url.origin() + target.url.path + key.substr(query);
  items.push_back({.key = key, .locator = std::to_string(target.depth) + (target.named ? "! " : " ") + url});
}

void WebReader::add_reference(std::vector<SourceItem>& items, const WebUrl& base, std::string_view reference, std::size_t depth) {
  const auto url = resolve_web_url(base, reference);
  if (url && is_same_site(*url)) add(items, {*url, depth, false});
}

Result<void> WebReader::read_robots(const CallContext& call) {
  FOOTNOTE_TRY(const WebUrl url, resolve_web_url(start_, "/robots.txt"));
  const auto page = crawler_.fetch(call, {.url = url.text, .body_bytes_max = kRobotsBytesMax * 2});
  if (!page && (page.error().code == ErrorCode::kTooLarge || page.error().code == ErrorCode::kUnsupported)) return {};
  if (!page) return std::unexpected(page.error());
  if (page->status >= 500 || page->status == 429) {
    return fail(ErrorCode::kUnavailable, "'{}' answers for robots.txt with {}; nothing is read until it can be", start_.host, page->status);
  }
  if (page->is_ok()) robots_ = RobotsRules::parse(page->body, kProduct);
  return {};
}

/// What the site shows where nothing can be.
void WebReader::probe_missing_page(const CallContext& call) {
  const auto url = resolve_web_url(start_, "/" + sha256_hex(start_.text + "missing").substr(0, 24));
  if (!url || (options_.robots && !robots_.allows(url->path))) return;
  const auto page = crawler_.fetch(call, {.url = url->text, .media_types = {"text/*"}, .body_bytes_max = 1u << 20});
  if (!page || !page->is_ok() || !is_html(*page)) return;
  const auto text = html::extract(page->body);
  if (text) soft_not_found_.learn(text->text);
}

Result<bool> WebReader::list_sitemaps(const CallContext& call, std::vector<SourceItem>& items) {
  std::vector<std::pair<WebUrl, int>> waiting;
  std::set<std::string> asked;
  bool complete = true;
  if (options_.reach == Reach::kSitemap) waiting.emplace_back(start_, 0);
  for (const std::string& named : options_.reach == Reach::kSite ? robots_.sitemaps() : std::vector<std::string>{}) {
    if (const auto url = resolve_web_url(start_, named)) waiting.emplace_back(*url, 0);
  }
  if (waiting.empty()) {
    FOOTNOTE_TRY(WebUrl usual, resolve_web_url(start_, "/sitemap.xml"));
    waiting.emplace_back(std::move(usual), 0);
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const auto [url, depth] = waiting[i];
    // An index that names itself, or a circle of them, is read once.
    if (!asked.insert(url.text).second) continue;
    const auto sitemap = [&]() -> Result<Sitemap> {
      FOOTNOTE_TRY(const FetchedPage page,
                   crawler_.fetch(call, {.url = url.text, .body_bytes_max = kSitemapBytesMax, .host_delay = robots_.crawl_delay()}));
      if (!page.is_ok()) return fail(ErrorCode::kUnavailable, "the sitemap answers with {}", page.status);
      FOOTNOTE_TRY(const std::string text, unpack_gzip(page.body, kSitemapBytesMax));
      return parse_sitemap(text);
    }();
    if (!sitemap) {
      FOOTNOTE_CHECK(call.check());
      if (options_.reach == Reach::kSitemap && i == 0) return std::unexpected(sitemap.error());
      complete = false;
      continue;
    }
    complete = complete && !sitemap->cut;
    for (const SitemapEntry& entry : sitemap->pages) add_reference(items, url, entry.url, 0);
    for (const SitemapEntry& entry : sitemap->sitemaps) {
      const auto next = resolve_web_url(url, entry.url);
      const bool is_wanted = next && is_same_site(*next) && depth < kSitemapDepthMax && waiting.size() < kSitemapsMax;
      if (is_wanted) waiting.emplace_back(*next, depth + 1);
      complete = complete && is_wanted;
    }
  }
  return complete;
}

void WebReader::list_site(const CallContext& call, std::vector<SourceItem>& items) {
  if (const auto url = resolve_web_url(start_, "/llms.txt"); url && robots_.allows(url->path)) {
    const auto page = crawler_.fetch(call, {.url = url->text, .media_types = {"text/*"}, .body_bytes_max = 1u << 20});
    const auto list = page && page->is_ok() ? parse_llms_txt(page->body) : Result<LlmsTxt>(LlmsTxt{});
    if (list) {
      for (const LlmsLink& link : list->links) add_reference(items, *url, link.url, 1);
    }
  }
  add(items, {start_, 0, false});
  (void)list_sitemaps(call, items);  // a help, not a condition
  for (const std::string& key : known_) {
    const auto url = parse_web_url(key);
    if (!url || !is_same_site(*url)) continue;
    // What may no longer be read is no longer kept: read() says so without a request.
    const bool is_forbidden = !robots_.allows(url->path + (url->query.empty() ? "" : "?" + url->query));
    if (is_forbidden && seen_.insert(key).second) {
      items.push_back({.key = key, .locator = "0- " + url->text});
    } else {
      add(items, {*url, 1, false});
    }
  }
}

Result<void> WebReader::list_feed(const CallContext& call, std::vector<SourceItem>& items) {
  FOOTNOTE_TRY(const FetchedPage page, crawler_.fetch(call, {.url = start_.text, .body_bytes_max = kPageBytesMax}));
  if (!page.is_ok()) return fail(ErrorCode::kUnavailable, "the feed answers with {}", page.status);
  FOOTNOTE_TRY(const Feed feed, parse_feed(page.body));
  FOOTNOTE_TRY(const WebUrl base, parse_web_url(page.final_url));
  for (const FeedEntry& entry : feed.entries) {
    if (const auto url = resolve_web_url(base, entry.url); url && is_same_site(*url)) add(items, {*url, 0, false});
  }
  return {};
}

Result<ingest::SourceItems> WebReader::list(const CallContext& call) {
  ingest::SourceItems out;
  if (options_.robots) FOOTNOTE_CHECK(read_robots(call));
  switch (options_.reach) {
    case Reach::kPage: add(out.items, {start_, 0, true}); break;
    case Reach::kSite:
      probe_missing_page(call);
      list_site(call, out.items);
      out.complete = false;
      break;
    case Reach::kSitemap: {
      probe_missing_page(call);
      FOOTNOTE_TRY(out.complete, list_sitemaps(call, out.items));
      out.complete = out.complete && !outcomes_.contains("page limit");
      break;
    }
    case Reach::kFeed:
      FOOTNOTE_CHECK(list_feed(call, out.items));
      out.complete = false;
      break;
  }
  return out;
}

Result<FetchedPage> WebReader::fetch_page(const CallContext& call, const SourceItem& item, const WebUrl& url) {
  if (const auto found = ahead_.find(item.key); found != ahead_.end()) {
    FetchedPage page = std::move(found->second);
    ahead_.erase(found);
    return page;
  }
  PageRequest request{
      .url = url.text, .media_types = page_media_types(), .body_bytes_max = kPageBytesMax, .host_delay = robots_.crawl_delay()};
  if (const auto stamp = stamps_.find(item.key); stamp != stamps_.end()) {
    request.etag = stamp_part(stamp->second, 1);
    request.last_modified = stamp_part(stamp->second, 2);
  }
  return crawler_.fetch(call, request);
}

ItemRead WebReader::left_out(const Target& target, std::string reason, ItemRead out) {
  const bool brings_nothing = reason == "duplicate" || reason == "too short" || reason == "soft 404";
  if (brings_nothing) traps_.note(target.url, false);
  ++outcomes_[reason];
  out.state = ItemRead::State::kGone;
  out.reason = std::move(reason);
  return out;
}

/// The page is to be known under another address: that one is listed, with what was fetched already.
ItemRead WebReader::moved(const Target& target, FetchedPage page, const WebUrl& to, std::string reason) {
  ItemRead out;
  if (!is_same_site(to)) return left_out(target, "another site");
  const std::size_t before = out.found.size();
  add(out.found, {to, target.depth, target.named});
  const bool is_kept = ahead_.size() < kAheadMax && page.body.size() <= kAheadBytesMax;
  if (out.found.size() > before && page.final_url == to.text && is_kept) ahead_.emplace(out.found.back().key, std::move(page));
  return left_out(target, std::move(reason), std::move(out));
}

Result<ItemRead> WebReader::read(const CallContext& call, const SourceItem& item) {
  const std::size_t space = item.locator.find(' ');
  Target target;
  target.named = item.locator.substr(0, space).ends_with('!');
  target.depth = parse_whole_number<std::size_t>(without_suffix(item.locator.substr(0, space), "!")).value_or(0);
  FOOTNOTE_TRY(target.url, parse_web_url(item.locator.substr(space + 1)));
  if (item.locator.substr(0, space).ends_with('-')) return left_out(target, "robots.txt");
  if (covered_.contains(item.key)) return left_out(target, "Markdown twin");
  auto page = fetch_page(call, item, target.url);
  if (page) return take_page(call, item, target, std::move(*page));
  FOOTNOTE_CHECK(call.check());
  if (page.error().code == ErrorCode::kUnsupported) return left_out(target, "no page");
  if (page.error().code == ErrorCode::kPermissionDenied) return left_out(target, "address not allowed");
  ++outcomes_["failed"];
  return ItemRead{.state = ItemRead::State::kFailed, .reason = page.error().message};
}

Result<ItemRead> WebReader::take_page(const CallContext& call, const SourceItem& item, const Target& target, FetchedPage page) {
  if (page.is_unchanged()) {
    ++outcomes_["unchanged"];
    const auto stamp = stamps_.find(item.key);
    return ItemRead{.state = ItemRead::State::kUnchanged, .stamp = stamp == stamps_.end() ? "" : stamp->second};
  }
  if (page.status == 404 || page.status == 410) return left_out(target, "not found");
  if (!page.is_ok()) {
    ++outcomes_["failed"];
    return ItemRead{.state = ItemRead::State::kFailed, .reason = "its server answers with " + std::to_string(page.status)};
  }
  FOOTNOTE_TRY(const WebUrl final_url, parse_web_url(page.final_url));
  // A page that its owner named is kept under that name, wherever it is now.
  if (!target.named && key_of(final_url) != item.key) return moved(target, std::move(page), final_url, "redirect");
  if (!target.named && !read_robots_tag(page.robots, kProduct).index) return left_out(target, "noindex");
  ItemRead out;
  out.stamp = page_stamp(page);
  out.document.key = item.key;
  out.document.url = item.key;
  out.document.media_type = media_type_of(page, final_url);
  if (is_html(page)) return take_html(call, target, page, std::move(out));
  out.document.content = decoded_body(page);
  if (!texts_.insert(sha256_hex(out.document.content)).second) return left_out(target, "duplicate");
  if (item.key.ends_with(".md")) {
    covered_.insert(without_suffix(item.key, ".md"));
    covered_.insert(without_suffix(item.key, ".md") + ".html");
  }
  traps_.note(target.url, true);
  ++outcomes_["kept"];
  return out;
}

void WebReader::find_links(const Target& target, const html::PageLinks& links, const WebUrl& base, ItemRead& out) {
  if (options_.reach != Reach::kSite || target.depth >= options_.depth) return;
  for (const html::PageLink& link : links.anchors) {
    if (link.rel.find("nofollow") == std::string::npos) add_reference(out.found, base, link.href, target.depth + 1);
  }
}

Result<ItemRead> WebReader::take_html(const CallContext& call, const Target& target, FetchedPage& page, ItemRead out) {
  out.document.content = decoded_body(page);
  const html::PageLinks links = html::read_links(out.document.content);
  FOOTNOTE_TRY(WebUrl base, parse_web_url(page.final_url));
  if (const auto given = resolve_web_url(base, links.base); given && !links.base.empty()) base = *given;
  const RobotsTag tag = read_robots_tag(links.robots, kProduct);
  if (tag.follow) find_links(target, links, base, out);
  if (!tag.index && !target.named) return left_out(target, "noindex", std::move(out));
  if (const auto canonical = resolve_web_url(base, links.canonical); canonical && !links.canonical.empty() && !target.named) {
    const std::string key = key_of(*canonical);
    if (!key.empty() && key != out.document.key && is_same_site(*canonical)) {
      add(out.found, {*canonical, target.depth, false});
      return left_out(target, "canonical elsewhere", std::move(out));
    }
  }
  const auto text = html::extract(out.document.content, {}, call);
  if (!text) {
    FOOTNOTE_CHECK(call.check());
    return left_out(target, "no page", std::move(out));
  }
  if (soft_not_found_.matches(text->title, text->text)) return left_out(target, "soft 404", std::move(out));
  if (!target.named && text->text.size() < kPageTextBytesMin) return left_out(target, "too short", std::move(out));
  if (!texts_.insert(sha256_hex(text->text)).second) return left_out(target, "duplicate", std::move(out));
  take_twin(call, links, base, out);
  traps_.note(target.url, true);
  ++outcomes_["kept"];
  return out;
}

/// A page that offers itself as Markdown is read from there: its author left out what is not the page.
void WebReader::take_twin(const CallContext& call, const html::PageLinks& links, const WebUrl& base, ItemRead& out) {
  const auto twin = std::ranges::find(links.alternates, "text/markdown", &html::PageLink::type);
  if (twin == links.alternates.end()) return;
  const auto url = resolve_web_url(base, twin->href);
  if (!url || !is_same_site(*url) || (options_.robots && !robots_.allows(url->path))) return;
  auto page = crawler_.fetch(call, {.url = url->text,
                                    .media_types = {"text/markdown", "text/plain"},
                                    .body_bytes_max = kPageBytesMax,
                                    .host_delay = robots_.crawl_delay()});
  if (!page || !page->is_ok() || page->body.size() < kPageTextBytesMin) return;
  out.document.content = decoded_body(*page);
  out.document.media_type = "text/markdown";
  covered_.insert(key_of(*url));
}

}  // namespace footnote::crawl
