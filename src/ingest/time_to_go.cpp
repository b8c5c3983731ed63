#include "ingest/time_to_go.h"

#include <algorithm>
#include <cmath>

namespace footnote::ingest {

std::optional<std::chrono::seconds> TimeToGo::update(std::int64_t done, std::int64_t total, Time now) {
  const double elapsed = std::chrono::duration<double>(now - last_).count();
  if (elapsed > 0) {
    const double keep = std::exp(-elapsed / std::chrono::duration<double>(kMemory).count());
    amount_ = amount_ * keep + static_cast<double>(std::max<std::int64_t>(done - last_done_, 0));
    seconds_ = seconds_ * keep + elapsed;
    last_ = now;
    last_done_ = done;
  }
  if (now - start_ < kWarmUp || amount_ <= 0 || total <= 0) return std::nullopt;
  const double left = static_cast<double>(std::max<std::int64_t>(total - done, 0));
  constexpr double kSecondsMax = 30.0 * 24 * 3600;
  return std::chrono::seconds{static_cast<std::int64_t>(std::min(std::ceil(left * seconds_ / amount_), kSecondsMax))};
}

}  // namespace footnote::ingest
