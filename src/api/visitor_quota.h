#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "access/rate_meter.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace footnote::api {

/// Limits calls per minute for each name. Names idle for two minutes are forgotten, because their quota is full again by then. If there are
/// more than kNamesMax names, all counts are reset, so that memory stays bounded. Thread-safe.
class VisitorQuota {
 public:
  static constexpr std::size_t kNamesMax = 100'000;

  explicit VisitorQuota(std::int64_t calls_per_minute) : calls_per_minute_(calls_per_minute) {}

  /// Counts one call. Returns nullopt if allowed, else how long to wait.
  std::optional<std::chrono::seconds> count(std::string_view name, UtcTime now);

 private:
  using Meters = std::unordered_map<std::string, access::RateMeter>;
  void forget_old(UtcTime now) FOOTNOTE_TSA(requires_capability(mutex_));

  const std::int64_t calls_per_minute_;
  Mutex mutex_;
  Meters young_ FOOTNOTE_TSA(guarded_by(mutex_));
  Meters old_ FOOTNOTE_TSA(guarded_by(mutex_));
  UtcTime turned_at_ FOOTNOTE_TSA(guarded_by(mutex_)) = {};
};

}  // namespace footnote::api
