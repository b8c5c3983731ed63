#include "http/turn_rate.h"

#include <algorithm>
#include <cmath>

namespace footnote::http {

double TurnRate::fading(Time now) const { return std::exp(-Seconds(std::max(now, seen_until_) - seen_until_) / window_); }

void TurnRate::start(Time now) {
  seen_until_ = now;
  turns_ = 0;
  watched_ = Seconds{0};
}

void TurnRate::count(Time now) {
  const double left = fading(now);
  watched_ = watched_ * left + window_ * (1 - left);
  turns_ = turns_ * left + 1;
  seen_until_ = std::max(now, seen_until_);
}

std::optional<TurnRate::Seconds> TurnRate::wait_at(std::size_t place, Time now) const {
  const double left = fading(now);
  const Seconds watched = watched_ * left + window_ * (1 - left);
  if (watched < window_ / 4) return std::nullopt;
  // If no turn was seen, the next may come now: assume at least one.
  return watched * (static_cast<double>(place) / std::max(turns_ * left, 1.0));
}

}  // namespace footnote::http
