#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/catalog.h"

namespace footnote::access {

/// One rate limit and how much of it is left.
struct RateWindow {
  std::string_view name;  ///< "minute" or "day"
  std::chrono::seconds length{0};
  std::int64_t quota = 0;
  std::int64_t remaining = 0;
  std::chrono::seconds until_full{0};  ///< Time until it is full again without further requests.
};

/// The requests on the day of `now`.
std::int64_t requests_today(const KeyUsage& usage, UtcTime now);

/// Result of counting one request.
struct RateVerdict {
  std::vector<RateWindow> windows;                  ///< Only windows with a limit; the tightest first.
  std::optional<std::chrono::seconds> retry_after;  ///< Set: the request exceeds a limit and was not counted.
};

/// Counts one key's requests: a token bucket per minute, and a daily total (UTC). Not thread-safe.
class RateMeter {
 public:
  /// Continues from `usage`. The bucket starts full.
  RateMeter(const KeyLimits& limits, const KeyUsage& usage, UtcTime now);

  RateVerdict count(UtcTime now);
  const KeyUsage& usage() const { return usage_; }

 private:
  void refill(UtcTime now);

  KeyLimits limits_;
  KeyUsage usage_;
  double tokens_;
  UtcTime filled_at_;
};

}  // namespace footnote::access
