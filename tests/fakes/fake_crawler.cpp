#include "fakes/fake_crawler.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"

namespace footnote::fakes {

namespace {

/// Strict enough for a fake: lower-case http(s), a host, no user; the fragment cut off.
Result<std::string> address(std::string_view url) {
  const bool is_web = url.starts_with("http://") || url.starts_with("https://");
  if (!is_web || url.find('@') != std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "not a web address");
  return std::string(url.substr(0, url.find('#')));
}

std::string resolved(const std::string& base, const std::string& location) {
  if (!location.starts_with('/')) return location;
  return base.substr(0, base.find('/', base.find("//") + 2)) + location;
}

bool is_wanted(const std::vector<std::string>& types, std::string_view type) {
  return types.empty() || std::ranges::any_of(types, [&](std::string_view wanted) {
           return wanted.ends_with("/*") ? type.starts_with(wanted.substr(0, wanted.size() - 1)) : type == wanted;
         });
}

}  // namespace

void FakeCrawler::put(const std::string& url, FetchedPage page) {
  const MutexLock lock(mutex_);
  pages_[url] = Site{.page = std::move(page)};
}

void FakeCrawler::put_html(const std::string& url, const std::string& body) {
  FetchedPage page{.status = 200, .media_type = "text/html", .charset = "utf-8", .body = body};
  page.etag = "\"" + sha256_hex(body).substr(0, 16) + "\"";
  put(url, std::move(page));
}

void FakeCrawler::remove(const std::string& url) {
  const MutexLock lock(mutex_);
  pages_.erase(url);
}

void FakeCrawler::forbid(const std::string& url) {
  const MutexLock lock(mutex_);
  pages_[url].forbidden = true;
}

void FakeCrawler::break_off(const std::string& url) {
  const MutexLock lock(mutex_);
  pages_[url].broken = true;
}

Result<FetchedPage> FakeCrawler::fetch(const CallContext& call, const PageRequest& request) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(std::string url, address(request.url));
  const MutexLock lock(mutex_);
  for (int redirects = 0; redirects <= 5; ++redirects) {
    requests_.push_back(url);
    const auto found = pages_.find(url);
    FetchedPage page =
        found != pages_.end() ? found->second.page : FetchedPage{.status = 404, .media_type = "text/html", .body = "missing"};
    if (found != pages_.end() && found->second.forbidden) return fail(ErrorCode::kPermissionDenied, "the address is not allowed");
    if (found != pages_.end() && found->second.broken) return fail(ErrorCode::kUnavailable, "the server is down");
    page.final_url = url;
    page.redirects = redirects;
    if (page.status / 100 == 3 && !page.location.empty()) {
      const auto next = address(resolved(url, page.location));
      if (!next) return fail(ErrorCode::kPermissionDenied, "a redirect to what is no web address");
      url = *next;
      continue;
    }
    if (!page.etag.empty() && page.etag == request.etag) {
      page.status = 304;
      page.body.clear();
    }
    if (page.is_ok() && !is_wanted(request.media_types, page.media_type)) return fail(ErrorCode::kUnsupported, "another media type");
    if (request.body_bytes_max != 0 && page.body.size() > request.body_bytes_max) return fail(ErrorCode::kTooLarge, "too large");
    page.wire_bytes = page.body.size();
    body_bytes_ += page.body.size();
    return page;
  }
  return fail(ErrorCode::kUnavailable, "too many redirects");
}

std::vector<std::string> FakeCrawler::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

std::size_t FakeCrawler::body_bytes() const {
  const MutexLock lock(mutex_);
  return body_bytes_;
}

void FakeCrawler::forget_requests() {
  const MutexLock lock(mutex_);
  requests_.clear();
  body_bytes_ = 0;
}

}  // namespace footnote::fakes
