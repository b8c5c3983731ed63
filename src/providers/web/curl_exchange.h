#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "engine/url/web_url.h"
#include "ports/crawler.h"
#include "providers/web/address_policy.h"

namespace footnote {

/// Bounds of one request and its response.
struct ExchangeLimits {
  std::size_t body_bytes_max = 16u << 20;  ///< Both as sent and decompressed.
  std::size_t header_bytes_max = 64u << 10;
  std::size_t header_lines_max = 200;
  std::chrono::milliseconds connect_time_max{10'000};
  std::chrono::milliseconds silence_max{15'000};  ///< Less than a byte a second for so long ends it.
};

/// Names to addresses, in place of the system's resolver: tests decide what a name means, and when that changes. Empty: unknown.
using NameResolver = std::function<std::vector<std::string>(const std::string& host)>;

/// One response, redirects included: those are not followed here.
struct ExchangeResult {
  FetchedPage page;
  std::chrono::seconds retry_after{-1};  ///< Negative: the server named none.
};

/// Sends one GET request and reads its response. The address is checked where the socket is opened, and again before the request is sent.
/// No proxy, cookie, credential or reused connection. Errors as Crawler::fetch.
class CurlExchange {
 public:
  /// Borrows everything.
  CurlExchange(const AddressPolicy& policy, const ExchangeLimits& limits, const NameResolver& resolver, std::string user_agent)
      : policy_(policy), limits_(limits), resolver_(resolver), user_agent_(std::move(user_agent)) {}

  Result<ExchangeResult> run(const CallContext& call, const WebUrl& url, const PageRequest& request) const;

  /// Sockets that were opened so far: none for a refused address.
  std::size_t socket_count() const { return sockets_.load(); }

 private:
  friend class CurlTransfer;
  const AddressPolicy& policy_;
  const ExchangeLimits& limits_;
  const NameResolver& resolver_;
  const std::string user_agent_;
  mutable std::atomic<std::size_t> sockets_{0};
};

}  // namespace footnote
