#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// A wall-clock time in UTC, in milliseconds.
using UtcTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// "2026-03-01T09:30:00.125Z"
std::string to_rfc3339(UtcTime time);
/// Accepts a date, or a date and time with `Z` or an offset. kInvalidArgument otherwise.
Result<UtcTime> parse_rfc3339(std::string_view text);

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
