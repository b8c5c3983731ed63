#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

inline constexpr std::size_t kJsonDepthMax = 32;
inline constexpr std::size_t kJsonBytesMax = 64 << 20;

/// Parses one JSON text of well-formed UTF-8. Limits: kJsonDepthMax levels of nesting, kJsonBytesMax bytes, json_values_max() values,
/// numbers in the range of a double. Of duplicate keys the last one wins. kInvalidArgument names the byte, kTooLarge the limit (see
/// json_size.h).
Result<Json> parse_json(std::string_view text);

/// parse_json() for requests: duplicate keys in one object are kInvalidArgument, because another reader of the same request (a proxy, a
/// log) may use the other value.
Result<Json> parse_request_json(std::string_view text);

/// Compact JSON. Floats are the shortest text that parses to the same value; NaN and infinities, which JSON lacks, become null. Control
/// characters are escaped, so the text is one line; malformed UTF-8 becomes U+FFFD.
std::string to_text(const Json& value);

/// Appends floats as a JSON list, formatted as to_text() does, without building a Json value for each.
void append_floats(std::string& out, std::span<const float> values);

/// The double with the same shortest decimal text: 0.1f becomes 0.1, not 0.10000000149.
double json_number(float value);

/// Reads the fields of an object sent by a client; errors name the invalid field:
///   JsonReader body(value);                      // not an object: kInvalidArgument
///   FOOTNOTE_TRY(auto question, body.required_string("question", 10'000));
/// Borrows the value. Nested readers report full paths: "filters.date_from".
class JsonReader {
 public:
  static Result<JsonReader> of(const Json& value, std::string path = {});

  bool has(std::string_view key) const;
  /// kInvalidArgument when the field is missing, null, of another type, empty, or longer than `bytes_max` bytes.
  Result<std::string> required_string(std::string_view key, std::size_t bytes_max) const;
  /// nullopt when the field is missing or null.
  Result<std::optional<std::string>> optional_string(std::string_view key, std::size_t bytes_max) const;
  Result<std::optional<std::int64_t>> optional_integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  Result<std::optional<double>> optional_number(std::string_view key, double min, double max) const;
  Result<std::optional<bool>> optional_bool(std::string_view key) const;
  Result<std::optional<std::vector<std::string>>> optional_strings(std::string_view key, std::size_t count_max,
                                                                   std::size_t bytes_max) const;
  Result<std::optional<JsonReader>> optional_object(std::string_view key) const;
  Result<const JsonArray*> required_array(std::string_view key, std::size_t count_max) const;
  /// kInvalidArgument for a key that is not in `known`; the message suggests the nearest known key.
  Result<void> only(std::initializer_list<std::string_view> known) const;

 private:
  JsonReader(const JsonObject& object, std::string path) : object_(&object), path_(std::move(path)) {}
  std::string path_of(std::string_view key) const;
  const Json* find(std::string_view key) const;

  const JsonObject* object_;
  std::string path_;
};

}  // namespace footnote
