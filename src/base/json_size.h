#pragma once

#include <cstddef>
#include <string_view>

#include "base/json.h"

namespace footnote {

/// Limits on the number of values in a JSON text: json_values_max() for parse_json(), json_request_values_max() for parse_request_json().
/// In a vector, each number takes at least 5 bytes of text. Requests of most routes have much more text per value.
inline constexpr std::size_t kJsonValuesBase = 1'000'000;
inline constexpr std::size_t kJsonRequestValuesBase = 100'000;
constexpr std::size_t json_values_max(std::size_t text_bytes) { return kJsonValuesBase + text_bytes / 5; }
constexpr std::size_t json_request_values_max(std::size_t text_bytes) { return kJsonRequestValuesBase + text_bytes / 16; }

/// Parsing a text takes at its peak about bytes + values * kJsonBytesPerValue of memory.
inline constexpr std::size_t kJsonBytesPerValue = 52;

/// Counts the values of a JSON text, whole or in pieces, without parsing it. The counts are meaningless for text that is not JSON.
class JsonSize {
 public:
  void feed(std::string_view piece);
  /// An upper bound while the text is incomplete or malformed.
  std::size_t values() const { return values_; }
  /// Members of objects; duplicate keys count each time.
  std::size_t members() const { return members_; }
  /// Memory of the parsed value. 0 if parsing will be rejected: the text does not start with '[' or '{', or has too many values.
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
