#include "base/clock.h"

#include <optional>

#include "base/text.h"

namespace footnote {

namespace {

/// Reads exactly `digits` digits at `text[at]`.
std::optional<int> number(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  const auto value = parse_whole_number<int>(text.substr(at, digits));
  return value.value_or(-1) < 0 ? std::nullopt : value;
}

/// Reads one time from left to right.
class TimeReader {
 public:
  enum class Form { kStrict, kAny };
  TimeReader(std::string_view text, Form form) : text_(text), is_any_(form == Form::kAny) {}

  std::optional<UtcMicroseconds> read() {
    if (is_any_) {
      while (skip(' ')) {
      }
    }
    if (!read_date()) return std::nullopt;
    if (at_ == text_.size()) return time_;
    if (!(skip('T') || skip(' ') || (is_any_ && skip('t'))) || !read_clock() || !read_zone()) return std::nullopt;
    return at_ == text_.size() ? std::optional(time_) : std::nullopt;
  }

 private:
  bool skip(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<int> take(std::size_t digits, int max) {
    const auto value = number(text_, at_, digits);
    at_ += digits;
    return value && *value <= max ? value : std::nullopt;
  }

  bool read_date() {
    const auto year = take(4, 9999);
    if (!year || !skip('-')) return false;
    const auto month = take(2, 12);
    if (!month || !skip('-')) return false;
    const auto day = take(2, 31);
    if (!day) return false;
    const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    time_ = std::chrono::sys_days{date};
    return date.ok();
  }

  bool read_clock() {
    const auto hour = take(2, 23);
    if (!hour || !skip(':')) return false;
    const auto minute = take(2, 59);
    if (!minute) return false;
    time_ += std::chrono::hours{*hour} + std::chrono::minutes{*minute};
    if (!skip(':')) return is_any_;
    const auto second = take(2, 60);
    if (!second) return false;
    time_ += std::chrono::seconds{*second};
    return !skip('.') || read_fraction();
  }

  bool read_fraction() {
    const std::size_t first = at_;
    int scale = 100'000;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, scale /= 10) {
      time_ += std::chrono::microseconds{(text_[at_] - '0') * scale};
    }
    return at_ > first;
  }

  bool read_zone() {
    if (at_ == text_.size()) return is_any_;  // without a zone: UTC
    if (is_any_ && text_.substr(at_) == " UTC") {
      at_ = text_.size();
      return true;
    }
    if (is_any_) skip(' ');
    if (skip('Z') || skip('z')) return true;
    const bool is_east = skip('+');
    if (!is_east && !skip('-')) return false;
    const auto hours = take(2, 23);
    if (!hours || (!skip(':') && !is_any_)) return false;
    const auto minutes = take(2, 59);
    if (!minutes) return false;
    const auto offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
    time_ += is_east ? -offset : offset;
    return true;
  }

  const std::string_view text_;
  const bool is_any_;
  std::size_t at_ = 0;
  UtcMicroseconds time_{};
};

}  // namespace

UtcTime SystemClock::now() const { return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

ForwardClock::ForwardClock(const Clock& wall, UtcTime not_before, SteadyNow steady)
    : wall_(wall), steady_(std::move(steady)), last_(std::max(wall.now(), not_before)), last_steady_(steady_()) {}

UtcTime ForwardClock::now() const {
  MutexLock lock(mutex_);
  const auto steady = steady_();
  const auto passed =
      std::chrono::floor<std::chrono::milliseconds>(std::max(steady - last_steady_, std::chrono::steady_clock::duration{0}));
  last_steady_ += passed;
  last_ = std::max(wall_.now(), last_ + passed);
  return last_;
}

std::string to_rfc3339(UtcTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Result<UtcTime> parse_rfc3339(std::string_view text) {
  const auto time = TimeReader(text, TimeReader::Form::kStrict).read();
  if (!time) return fail(ErrorCode::kInvalidArgument, "'{}' is not a time such as 2026-03-01T09:30:00Z", text);
  return std::chrono::floor<std::chrono::milliseconds>(*time);
}

std::optional<UtcMicroseconds> parse_any_time(std::string_view text) { return TimeReader(text, TimeReader::Form::kAny).read(); }

}  // namespace footnote
