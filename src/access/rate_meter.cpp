#include "access/rate_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace footnote::access {
namespace {

using std::chrono::days, std::chrono::seconds;

constexpr seconds kMinute{60};
constexpr seconds kDay{86'400};

std::int64_t day_of(UtcTime time) { return std::chrono::floor<days>(time).time_since_epoch().count(); }

/// Never 0: a client that may retry at once would retry too soon.
seconds wait_for(double amount) { return seconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(amount)))}; }

}  // namespace

std::int64_t requests_today(const KeyUsage& usage, UtcTime now) {
  // If the clock was set back across midnight, yesterday gets no second quota. A recorded day further ahead was a clock error and does not
  // count.
  const bool counts = usage.day == day_of(now) || usage.day == day_of(now) + 1;
  return counts ? usage.requests : 0;
}

RateMeter::RateMeter(const KeyLimits& limits, const KeyUsage& usage, UtcTime now)
    : limits_(limits), usage_(usage), tokens_(static_cast<double>(limits.requests_per_minute)), filled_at_(now) {}

void RateMeter::refill(UtcTime now) {
  const auto quota = static_cast<double>(limits_.requests_per_minute);
  // If the clock was set back, nothing is refilled.
  const double passed = std::max(0.0, std::chrono::duration<double>(now - filled_at_).count());
  tokens_ = std::min(quota, tokens_ + passed * quota / static_cast<double>(kMinute.count()));
  filled_at_ = now;
  usage_.requests = requests_today(usage_, now);
  usage_.day = usage_.day == day_of(now) + 1 ? usage_.day : day_of(now);
}

RateVerdict RateMeter::count(UtcTime now) {
  refill(now);
  const double per_second = static_cast<double>(limits_.requests_per_minute) / static_cast<double>(kMinute.count());
  const auto until_tomorrow = std::chrono::ceil<seconds>(std::chrono::floor<days>(now) + days{1} - now);
  RateVerdict verdict;
  if (limits_.requests_per_day > 0 && usage_.requests >= limits_.requests_per_day) {
    verdict.retry_after = until_tomorrow;
  } else if (limits_.requests_per_minute > 0 && tokens_ < 1) {
    verdict.retry_after = wait_for((1 - tokens_) / per_second);
  } else {
    tokens_ -= 1;
    usage_.requests += 1;
    usage_.last_used_at = now;
  }
  if (limits_.requests_per_minute > 0) {
    const double missing = static_cast<double>(limits_.requests_per_minute) - tokens_;
    verdict.windows.push_back({"minute", kMinute, limits_.requests_per_minute, static_cast<std::int64_t>(std::max(0.0, tokens_)),
                               wait_for(missing / per_second)});
  }
  if (limits_.requests_per_day > 0) {
    const std::int64_t left = std::max<std::int64_t>(0, limits_.requests_per_day - usage_.requests);
    verdict.windows.push_back({"day", kDay, limits_.requests_per_day, left, until_tomorrow});
  }
  // The tightest limit comes first; on a tie the minute's. (Not stable_sort: clang reports a deprecated function inside this library.)
  if (verdict.windows.size() == 2 && verdict.windows[1].remaining < verdict.windows[0].remaining) {
    std::swap(verdict.windows[0], verdict.windows[1]);
  }
  return verdict;
}

}  // namespace footnote::access
