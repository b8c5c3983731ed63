#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace footnote {

/// Where a piece of work stands in a trace that may span several programs (W3C Trace Context). Empty ids: in none.
struct TraceContext {
  static constexpr std::uint8_t kSampled = 0x01;  ///< The caller keeps what it learns of this trace.
  static constexpr std::uint8_t kRandom = 0x02;   ///< The trace id's last 56 bits are random.

  std::string trace_id;  ///< 32 lower-case hexadecimal digits, not all 0.
  std::string span_id;   ///< 16 of them: this piece of work, the parent of those it calls for.
  std::uint8_t flags = 0;

  explicit operator bool() const { return !trace_id.empty(); }
  bool operator==(const TraceContext&) const = default;

  /// A trace of its own.
  static TraceContext fresh();
  /// A span of its own in the same trace.
  TraceContext child() const;
};

/// Reads the header `traceparent`: version "-" trace id "-" span id "-" flags, lower-case hexadecimal digits.
/// Of a later version what this one knows is read and the rest left alone. Flags without a meaning here read as 0.
/// nullopt: malformed, version ff, or an id of zeros; the caller then starts a trace of its own.
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". REQUIRES: ids.
std::string to_traceparent(const TraceContext& trace);

}  // namespace footnote
