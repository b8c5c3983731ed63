#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace footnote {

/// The position of a piece of work in a distributed trace (W3C Trace Context). Empty ids: no trace.
struct TraceContext {
  static constexpr std::uint8_t kSampled = 0x01;  ///< The caller records this trace.
  static constexpr std::uint8_t kRandom = 0x02;   ///< The trace id's last 56 bits are random.

  std::string trace_id;  ///< 32 lower-case hexadecimal digits, not all 0.
  std::string span_id;   ///< 16 such digits: this span, the parent of the spans that it starts.
  std::uint8_t flags = 0;

  explicit operator bool() const { return !trace_id.empty(); }
  bool operator==(const TraceContext&) const = default;

  /// Starts a new trace.
  static TraceContext fresh();
  /// A new span in the same trace.
  TraceContext child() const;
};

/// Parses the `traceparent` header: version "-" trace id "-" span id "-" flags, in lower-case hexadecimal digits. Unknown parts of later
/// versions and unknown flags are ignored.
/// nullopt: malformed, version ff, or an all-zero id; the caller then starts a new trace.
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". REQUIRES: non-empty ids.
std::string to_traceparent(const TraceContext& trace);

}  // namespace footnote
