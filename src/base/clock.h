#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace footnote {

/// A wall-clock time in UTC, in milliseconds.
using UtcTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// "2026-03-01T09:30:00.125Z"
std::string to_rfc3339(UtcTime time);
/// Accepts a date, or a date and time with `Z` or an offset. kInvalidArgument otherwise.
Result<UtcTime> parse_rfc3339(std::string_view text);

using UtcMicroseconds = std::chrono::sys_time<std::chrono::microseconds>;
/// Also accepts a time without seconds or without a zone (UTC), leading spaces, a space before the offset, "+0100" and " UTC".
std::optional<UtcMicroseconds> parse_any_time(std::string_view text);

/// The source of wall-clock time; tests replace it. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual UtcTime now() const = 0;
};

class SystemClock final : public Clock {
 public:
  UtcTime now() const override;
};

/// Wall-clock time that never goes backwards while the process lives, for rules that must not be undone: expiries, quotas, retention. If
/// the system clock is set back, this clock advances from its last value at the pace of the steady clock until the system clock has caught
/// up.
class ForwardClock final : public Clock {
 public:
  using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

  /// Starts at `not_before` if `wall` is behind it. Borrows `wall`.
  explicit ForwardClock(const Clock& wall, UtcTime not_before = {}, SteadyNow steady = std::chrono::steady_clock::now);

  UtcTime now() const override;

 private:
  const Clock& wall_;
  const SteadyNow steady_;
  mutable Mutex mutex_;
  mutable UtcTime last_ FOOTNOTE_TSA(guarded_by(mutex_));
  mutable std::chrono::steady_clock::time_point last_steady_ FOOTNOTE_TSA(guarded_by(mutex_));
};

/// Changes only when a test advances it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(UtcTime start) : milliseconds_(start.time_since_epoch().count()) {}
  UtcTime now() const override { return UtcTime{std::chrono::milliseconds{milliseconds_.load()}}; }
  void advance(std::chrono::milliseconds by) { milliseconds_ += by.count(); }

 private:
  std::atomic<std::int64_t> milliseconds_;
};

}  // namespace footnote
