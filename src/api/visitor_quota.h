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

/// So many calls a minute for each name. Names that were not heard for two minutes are forgotten: their minute is full again anyhow. Past
/// kNamesMax all that is known starts over, so that memory stays bounded whoever calls. Thread-safe.
class VisitorQuota {
 public:
  static constexpr std::size_t kNamesMax = 100'000;

  explicit VisitorQuota(std::int64_t calls_per_minute) : calls_per_minute_(calls_per_minute) {}

  /// Counts one call. A time: it is one too many, and the next is let through after that.
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
