#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::http {

/// One line of an upstream's stream, and all the data lines of one event together.
inline constexpr std::size_t kSseLineBytesMax = 1 << 20;
inline constexpr std::size_t kSseEventBytesMax = 4 << 20;
/// Every event carries the last id: a long one would be copied once for every few bytes of the stream.
inline constexpr std::size_t kSseIdBytesMax = 1 << 10;

struct SseEvent {
  std::string event;  ///< "message" unless the stream named it.
  std::string data;   ///< Data lines joined by LF.
  std::string id;     ///< The last id seen so far on the stream; longer ones than kSseIdBytesMax are skipped.

  bool operator==(const SseEvent&) const = default;
};

/// Reads server-sent events as the WHATWG rules say, from bytes cut anywhere (inside a code point, between CR and
/// LF). A byte order mark at the start, comments, unknown fields and `retry` are skipped; events without a data line
/// are not events. An event that the stream's end leaves without its blank line is dropped. Not thread-safe.
class SseParser {
 public:
  /// The events completed by `bytes`, in order. kTooLarge past kSseLineBytesMax or kSseEventBytesMax; the parser is
  /// then of no more use and fails again.
  Result<std::vector<SseEvent>> feed(std::string_view bytes);

 private:
  Result<void> take_line(std::string_view line, std::vector<SseEvent>& events);
  void take_field(std::string_view name, std::string_view value);

  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
  bool failed_ = false;
};

}  // namespace footnote::http
