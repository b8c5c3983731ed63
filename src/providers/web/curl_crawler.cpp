#include "providers/web/curl_crawler.h"

#include <algorithm>

#include "engine/url/web_url.h"

namespace footnote {

namespace {

bool is_redirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }

/// Statuses that may be others a moment later.
bool may_pass(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

Result<void> sleep_until(const CallContext& call, std::chrono::steady_clock::time_point end) {
  if (end >= call.deadline) return fail(ErrorCode::kDeadlineExceeded, "the next try is after the deadline");
  Mutex mutex;
  CondVar woken;
  const std::stop_callback wake(call.stop, [&] {
    const MutexLock lock(mutex);
    woken.notify_all();
  });
  MutexLock lock(mutex);
  while (!call.stop.stop_requested() && std::chrono::steady_clock::now() < end) woken.wait_until(lock, end);
  return call.check();
}

Counter& fetch_counter(Metrics& metrics, std::string result) {
  return metrics.counter("footnote_web_fetches_total", "Pages fetched from the web, by what came of them", {{"result", std::move(result)}});
}

Counter& byte_counter(Metrics& metrics) {
  return metrics.counter("footnote_web_bytes_total", "Bytes of the bodies fetched from the web, as sent");
}

}  // namespace

CurlCrawler::CurlCrawler(CurlCrawlerOptions options, Metrics& metrics)
    : options_(std::move(options)),
      exchange_(options_.policy, options_.limits, options_.resolver, options_.user_agent),
      gate_(options_.gate),
      metrics_(metrics) {
  // Shown from the start, before anything was fetched.
  fetch_counter(metrics_, "2xx");
  byte_counter(metrics_);
}

Result<ExchangeResult> CurlCrawler::try_url(const CallContext& call, const WebUrl& url, const PageRequest& request) {
  auto wait = options_.retry_wait;
  for (int attempt = 1;; ++attempt) {
    Result<ExchangeResult> result = [&]() -> Result<ExchangeResult> {
      FOOTNOTE_TRY(const HostGate::Pass pass, gate_.enter(call, url.origin(), request.host_delay));
      return exchange_.run(call, url, request);
    }();
    const bool failed = result ? may_pass(result->page.status) : result.error().code == ErrorCode::kUnavailable;
    if (!failed || attempt >= options_.tries) return result;
    const auto asked = result ? result->retry_after : std::chrono::seconds{-1};
    if (asked > kRetryAfterMax) return result;
    const auto pause = std::max<std::chrono::milliseconds>(wait, asked);
    if (const auto slept = sleep_until(call, std::chrono::steady_clock::now() + pause); !slept) {
      if (slept.error().code == ErrorCode::kCancelled) return std::unexpected(slept.error());
      return result;  // no time for another try: what came of this one says more
    }
    wait = wait * 3 / 2;
  }
}

Result<FetchedPage> CurlCrawler::follow(const CallContext& call, const PageRequest& request) {
  FOOTNOTE_TRY(WebUrl url, parse_web_url(request.url));
  std::size_t wire_bytes = 0;
  for (int redirects = 0;; ++redirects) {
    if (!options_.policy.allows_port(url.port)) {
      return fail(ErrorCode::kPermissionDenied, "port {} is not fetched from; web.ports and web.allow open ports", url.port);
    }
    FOOTNOTE_TRY(ExchangeResult result, try_url(call, url, request));
    wire_bytes += result.page.wire_bytes;
    if (!is_redirect(result.page.status) || result.page.location.empty()) {
      result.page.location.clear();
      result.page.redirects = redirects;
      result.page.wire_bytes = wire_bytes;
      return std::move(result.page);
    }
    if (redirects == kRedirectsMax) return fail(ErrorCode::kUnavailable, "'{}' redirects more than {} times", url.host, kRedirectsMax);
    const auto next = resolve_web_url(url, result.page.location);
    if (!next) return fail(ErrorCode::kPermissionDenied, "'{}' redirects to what is no web address", url.host);
    url = *next;
  }
}

Result<FetchedPage> CurlCrawler::fetch(const CallContext& call, const PageRequest& request) {
  auto page = follow(call.narrowed(options_.fetch_time_max), request);
  fetch_counter(metrics_, page ? std::to_string(page->status / 100) + "xx" : std::string(to_string(page.error().code))).add();
  if (page) byte_counter(metrics_).add(page->wire_bytes);
  return page;
}

}  // namespace footnote
