#include "base/trace_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/ids.h"

namespace footnote {

namespace {

constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kSpanIdDigits = 16;
constexpr std::size_t kByteDigits = 2;
constexpr std::uint8_t kKnownFlags = TraceContext::kSampled | TraceContext::kRandom;

/// The value of a lower-case hexadecimal digit; -1 for any other character.
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// Removes `count` digits from the front of `text`; nullopt when other characters follow.
std::optional<std::string_view> take_digits(std::string_view& text, std::size_t count) {
  const std::string_view digits = text.substr(0, count);
  if (digits.size() != count || std::ranges::any_of(digits, [](char c) { return digit_of(c) < 0; })) return std::nullopt;
  text.remove_prefix(count);
  return digits;
}

bool take_dash(std::string_view& text) {
  if (!text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}

std::uint8_t byte_of(std::string_view digits) { return static_cast<std::uint8_t>(digit_of(digits[0]) * 16 + digit_of(digits[1])); }

bool is_zero(std::string_view digits) { return digits.find_first_not_of('0') == std::string_view::npos; }

std::string random_id(std::size_t digits) {
  std::string id = random_hex(digits / 2);
  while (is_zero(id)) id = random_hex(digits / 2);
  return id;
}

}  // namespace

TraceContext TraceContext::fresh() { return {random_id(kTraceIdDigits), random_id(kSpanIdDigits), kSampled | kRandom}; }

TraceContext TraceContext::child() const { return {trace_id, random_id(kSpanIdDigits), flags}; }

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  const auto version = take_digits(text, kByteDigits);
  if (!version || *version == "ff" || !take_dash(text)) return std::nullopt;
  const auto trace_id = take_digits(text, kTraceIdDigits);
  if (!trace_id || is_zero(*trace_id) || !take_dash(text)) return std::nullopt;
  const auto span_id = take_digits(text, kSpanIdDigits);
  if (!span_id || is_zero(*span_id) || !take_dash(text)) return std::nullopt;
  const auto flags = take_digits(text, kByteDigits);
  if (!flags) return std::nullopt;
  const bool may_go_on = *version != "00" && text.starts_with('-');
  if (!text.empty() && !may_go_on) return std::nullopt;
  return TraceContext{std::string(*trace_id), std::string(*span_id), static_cast<std::uint8_t>(byte_of(*flags) & kKnownFlags)};
}

std::string to_traceparent(const TraceContext& trace) {
  FOOTNOTE_ASSERT(trace);
  return fmt::format("00-{}-{}-{:02x}", trace.trace_id, trace.span_id, trace.flags);
}

}  // namespace footnote
