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
  const auto bad = [&] { return fail(ErrorCode::kInvalidArgument, "'{}' is not a time such as 2026-03-01T09:30:00Z", text); };
  const auto year = number(text, 0, 4), month = number(text, 5, 2), day = number(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return bad();
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return bad();
  UtcTime time{std::chrono::sys_days{date}};
  if (text.size() == 10) return time;

  const auto hour = number(text, 11, 2), minute = number(text, 14, 2), second = number(text, 17, 2);
  if ((text[10] != 'T' && text[10] != ' ') || !hour || !minute || !second || text[13] != ':' || text[16] != ':') return bad();
  if (*hour > 23 || *minute > 59 || *second > 60) return bad();
  time += std::chrono::hours{*hour} + std::chrono::minutes{*minute} + std::chrono::seconds{*second};

  std::size_t at = 19;
  if (at < text.size() && text[at] == '.') {
    int scale = 100;
    if (!number(text, at + 1, 1)) return bad();
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10) {
      time += std::chrono::milliseconds{(text[at] - '0') * scale};
    }
  }
  if (at >= text.size()) return bad();
  if (text[at] == 'Z' || text[at] == 'z') return at + 1 == text.size() ? Result<UtcTime>{time} : bad();
  const auto offset_hours = number(text, at + 1, 2), offset_minutes = number(text, at + 4, 2);
  if ((text[at] != '+' && text[at] != '-') || !offset_hours || !offset_minutes || text[at + 3] != ':' || at + 6 != text.size() ||
      *offset_hours > 23 || *offset_minutes > 59) {
    return bad();
  }
  const auto offset = std::chrono::hours{*offset_hours} + std::chrono::minutes{*offset_minutes};
  return text[at] == '+' ? time - offset : time + offset;
}

}  // namespace footnote
