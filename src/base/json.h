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

/// Parses one JSON text: well-formed UTF-8, at most kJsonDepthMax deep and kJsonBytesMax long, no number
/// beyond double's range. Of equal keys the last counts. kInvalidArgument names the byte, kTooLarge the limit.
Result<Json> parse_json(std::string_view text);

/// The same for what a client sends: two equal keys in one object are kInvalidArgument too, for another reader of the
/// request (a proxy, a log) may take the other one.
Result<Json> parse_request_json(std::string_view text);

/// Compact JSON. Floats are the shortest text that reads back the same; NaN and infinities, which JSON
/// can't say, become null. Control characters are escaped, so the text never spans lines; malformed UTF-8 becomes
/// U+FFFD.
std::string to_text(const Json& value);

/// Appends a list of floats as JSON, as to_text would write them, without a value for each.
void append_floats(std::string& out, std::span<const float> values);

/// A float in its own precision: 0.1f prints as 0.1, not as the double nearest to it.
double json_number(float value);

/// Reads fields of an object sent by a client, so that a wrong one is named in the error:
///   JsonReader body(value);                      // not an object: kInvalidArgument
///   FOOTNOTE_TRY(auto question, body.required_string("question", 10'000));
/// Borrows the value. Paths of nested readers read "filters.date_from".
class JsonReader {
 public:
  static Result<JsonReader> of(const Json& value, std::string path = {});

  bool has(std::string_view key) const;
  /// Missing, null and a wrong type are errors; so is a text of more than `bytes_max` bytes or an empty one.
  Result<std::string> required_string(std::string_view key, std::size_t bytes_max) const;
  /// Missing and null read as nullopt.
  Result<std::optional<std::string>> optional_string(std::string_view key, std::size_t bytes_max) const;
  Result<std::optional<std::int64_t>> optional_integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  Result<std::optional<double>> optional_number(std::string_view key, double min, double max) const;
  Result<std::optional<bool>> optional_bool(std::string_view key) const;
  Result<std::optional<std::vector<std::string>>> optional_strings(std::string_view key, std::size_t count_max,
                                                                   std::size_t bytes_max) const;
  Result<std::optional<JsonReader>> optional_object(std::string_view key) const;
  Result<const JsonArray*> required_array(std::string_view key, std::size_t count_max) const;
  /// kInvalidArgument for a key that is not in `known`, with the nearest known one suggested.
  Result<void> only(std::initializer_list<std::string_view> known) const;

 private:
  JsonReader(const JsonObject& object, std::string path) : object_(&object), path_(std::move(path)) {}
  std::string path_of(std::string_view key) const;
  const Json* find(std::string_view key) const;

  const JsonObject* object_;
  std::string path_;
};

}  // namespace footnote
