#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/catalog.h"

namespace footnote::access {

/// One bound on requests and how much of it is left.
struct RateWindow {
  std::string_view name;  ///< "minute" or "day"
  std::chrono::seconds length{0};
  std::int64_t quota = 0;
  std::int64_t remaining = 0;
  std::chrono::seconds until_full{0};  ///< When nothing more is asked.
};

/// The requests of the day that `now` falls on.
std::int64_t requests_today(const KeyUsage& usage, UtcTime now);

/// What came of counting one request.
struct RateVerdict {
  std::vector<RateWindow> windows;                  ///< Those that are bound; the tightest first.
  std::optional<std::chrono::seconds> retry_after;  ///< Set: the request is one too many and was not counted.
};

/// Counts one key's requests: a bucket that refills evenly over a minute, and a sum per day (UTC). Not thread-safe.
class RateMeter {
 public:
  /// Goes on from `usage`. The bucket starts full.
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
