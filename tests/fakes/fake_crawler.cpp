#include "fakes/fake_crawler.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace footnote::fakes {

namespace {

constexpr std::array<std::string_view, 8> kPrivateHosts = {"localhost", "127.", "10.", "192.168.", "169.254.", "0.", "[::1]", "172.16."};

Result<void> check_address(std::string_view url) {
  const std::size_t at = url.find("://");
  const std::string scheme = to_lower_ascii(url.substr(0, at));
  if (at == std::string_view::npos || (scheme != "http" && scheme != "https")) {
    return fail(ErrorCode::kPermissionDenied, "only http and https addresses are fetched");
  }
  const std::string_view host = url.substr(at + 3);
  if (std::ranges::any_of(kPrivateHosts, [&](std::string_view prefix) { return starts_with_ignoring_case(host, prefix); })) {
    return fail(ErrorCode::kPermissionDenied, "the address is in a private network");
  }
  return {};
}

}  // namespace

Result<FetchedPage> FakeCrawler::fetch(const CallContext& call, std::string_view url) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(faults_.next());
  MutexLock lock(mutex_);
  std::string at(url);
  for (int hop = 0; hop <= kRedirectsMax; ++hop) {
    FOOTNOTE_CHECK(check_address(at));
    if (const auto page = pages_.find(at); page != pages_.end()) return page->second;
    const auto next = redirects_.find(at);
    if (next == redirects_.end()) return fail(ErrorCode::kUnavailable, "no answer from {}", at);
    at = next->second;
  }
  return fail(ErrorCode::kUnavailable, "more than {} redirects", kRedirectsMax);
}

void FakeCrawler::put_page(std::string_view url, std::string media_type, std::string body) {
  MutexLock lock(mutex_);
  pages_.insert_or_assign(std::string(url), FetchedPage{std::string(url), std::move(media_type), std::move(body)});
}

void FakeCrawler::redirect(std::string_view from, std::string_view to) {
  MutexLock lock(mutex_);
  redirects_.insert_or_assign(std::string(from), std::string(to));
}

}  // namespace footnote::fakes
