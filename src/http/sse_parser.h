#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::http {

/// Limits on one line of an upstream's stream, and on all data lines of one event.
inline constexpr std::size_t kSseLineBytesMax = 1 << 20;
inline constexpr std::size_t kSseEventBytesMax = 4 << 20;
/// Every event carries the last id, so a long id would be copied for every few bytes of the stream.
inline constexpr std::size_t kSseIdBytesMax = 1 << 10;

struct SseEvent {
  std::string event;  ///< "message" unless the stream names it.
  std::string data;   ///< Data lines joined by LF.
  std::string id;     ///< The last id seen so far on the stream; ids longer than kSseIdBytesMax are ignored.

  bool operator==(const SseEvent&) const = default;
};

/// Parses server-sent events by the WHATWG rules from bytes split anywhere (inside a code point, between CR and LF). Skips a leading byte
/// order mark, comments, unknown fields and `retry`; drops events without data, and an event that is incomplete at the end of the stream.
/// Not thread-safe.
class SseParser {
 public:
  /// The events completed by `bytes`, in order. kTooLarge beyond kSseLineBytesMax or kSseEventBytesMax; after that the parser keeps
  /// failing.
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
