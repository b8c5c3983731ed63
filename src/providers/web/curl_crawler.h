#pragma once

#include <chrono>
#include <string>

#include "base/metrics.h"
#include "ports/crawler.h"
#include "providers/web/address_policy.h"
#include "providers/web/curl_exchange.h"
#include "providers/web/host_gate.h"

namespace footnote {

struct CurlCrawlerOptions {
  AddressPolicy policy = {};
  ExchangeLimits limits = {};
  HostGateOptions gate = {};
  std::chrono::milliseconds fetch_time_max{30'000};  ///< Of one fetch: waiting for its turn, redirects and tries included.
  int tries = 3;                                     ///< Of a request that fails in a way that may pass.
  std::chrono::milliseconds retry_wait{500};         ///< Before the second try; half as much again before each later one.
  std::string user_agent = "footnote";
  NameResolver resolver = {};
};

/// The crawler of the product: libcurl behind the address policy. Redirects are followed here, one request at a time, each checked like the
/// first. Metrics: footnote_web_fetches_total{result}, footnote_web_bytes_total.
class CurlCrawler final : public Crawler {
 public:
  static constexpr int kRedirectsMax = 5;
  /// A longer Retry-After is not waited for.
  static constexpr std::chrono::seconds kRetryAfterMax{10};

  CurlCrawler(CurlCrawlerOptions options, Metrics& metrics);

  Result<FetchedPage> fetch(const CallContext& call, const PageRequest& request) override;

  std::size_t socket_count() const { return exchange_.socket_count(); }

 private:
  Result<FetchedPage> follow(const CallContext& call, const PageRequest& request);
  Result<ExchangeResult> try_url(const CallContext& call, const WebUrl& url, const PageRequest& request);

  const CurlCrawlerOptions options_;
  CurlExchange exchange_;
  HostGate gate_;
  Metrics& metrics_;
};

}  // namespace footnote
