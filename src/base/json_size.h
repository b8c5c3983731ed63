#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"

namespace footnote {

/// Values that a JSON text may have: most that parse_json reads, and most that parse_request_json does. A vector of numbers needs 5 bytes
/// or more for each, and the requests of most routes are texts with a few values around them.
inline constexpr std::size_t kJsonValuesBase = 1'000'000;
inline constexpr std::size_t kJsonRequestValuesBase = 100'000;
constexpr std::size_t json_values_max(std::size_t text_bytes) { return kJsonValuesBase + text_bytes / 5; }
constexpr std::size_t json_request_values_max(std::size_t text_bytes) { return kJsonRequestValuesBase + text_bytes / 16; }

/// The parsed value of a text takes about its bytes and this much for each value, at its peak.
inline constexpr std::size_t kJsonBytesPerValue = 52;

/// Counts the values of a JSON text, whole or in pieces, without parsing it. Of other text the numbers mean nothing.
class JsonSize {
 public:
  void feed(std::string_view piece);
  /// An upper bound while the text is incomplete or malformed.
  std::size_t values() const { return values_; }
  /// Members of objects; equal keys count each time.
  std::size_t members() const { return members_; }
  /// The memory of the parsed value. 0 if there will be none: the text does not start like a list or an object, or has too many values.
  std::size_t tree_bytes() const { return is_json_ && values_ <= json_values_max(bytes_) ? bytes_ + values_ * kJsonBytesPerValue : 0; }

 private:
  std::size_t bytes_ = 0;
  std::size_t values_ = 1;
  std::size_t members_ = 0;
  bool started_ = false;
  bool is_json_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
};

/// parse_request_json() for routes that take long lists of numbers. kTooLarge past `values_max`.
Result<Json> parse_request_json(std::string_view text, std::size_t values_max);

}  // namespace footnote
