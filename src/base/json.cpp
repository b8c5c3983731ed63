#include "base/json.h"

#include <boost/json/parse_options.hpp>
#include <boost/json/stream_parser.hpp>
#include <boost/json/string.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/json_size.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote {

namespace {

bool has_infinity(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::double_: return !std::isfinite(value.get_double());
    case boost::json::kind::array: return std::ranges::any_of(value.get_array(), has_infinity);
    case boost::json::kind::object:
      return std::ranges::any_of(value.get_object(), [](const auto& entry) { return has_infinity(entry.value()); });
    case boost::json::kind::null:
    case boost::json::kind::bool_:
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::string: return false;
  }
  return false;
}

/// The number of object members left after parsing; duplicate keys count once.
std::size_t count_members(const Json& value) {
  std::size_t count = 0;
  if (const auto* array = value.if_array()) {
    for (const Json& element : *array) count += count_members(element);
  } else if (const auto* object = value.if_object()) {
    for (const auto& entry : *object) count += 1 + count_members(entry.value());
  }
  return count;
}

template <class Number>
void write_number(std::string& out, Number number) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  out.append(buffer.data(), error == std::errc{} ? end : buffer.data());
}

void write_string(std::string& out, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  // File names and the like may not be UTF-8; the output must be valid JSON anyway.
  if (!is_valid_utf8(text)) return write_string(out, repair_utf8(text));
  out.push_back('"');
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          out += "\\u00";
          out.push_back(kDigits[byte >> 4]);
          out.push_back(kDigits[byte & 15]);
        } else {
          out.push_back(c);
        }
    }
  }
  out.push_back('"');
}

void write(std::string& out, const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: out += "null"; return;
    case boost::json::kind::bool_: out += value.get_bool() ? "true" : "false"; return;
    case boost::json::kind::int64: write_number(out, value.get_int64()); return;
    case boost::json::kind::uint64: write_number(out, value.get_uint64()); return;
    case boost::json::kind::double_:
      if (std::isfinite(value.get_double())) {
        write_number(out, value.get_double());
      } else {
        out += "null";
      }
      return;
    case boost::json::kind::string: write_string(out, value.get_string()); return;
    case boost::json::kind::array: {
      char separator = '[';
      for (const Json& element : value.get_array()) {
        out.push_back(separator);
        write(out, element);
        separator = ',';
      }
      out += value.get_array().empty() ? "[]" : "]";
      return;
    }
    case boost::json::kind::object: {
      char separator = '{';
      for (const auto& entry : value.get_object()) {
        out.push_back(separator);
        write_string(out, entry.key());
        out.push_back(':');
        write(out, entry.value());
        separator = ',';
      }
      out += value.get_object().empty() ? "{}" : "}";
      return;
    }
  }
}

}  // namespace

namespace {

Result<void> check_size(std::string_view text, const JsonSize& size, std::size_t values_max) {
  if (text.size() > kJsonBytesMax) {
    return fail(ErrorCode::kTooLarge, "JSON of {} is over the limit of {}", human_bytes(text.size()), human_bytes(kJsonBytesMax));
  }
  if (size.values() > values_max) {
    return fail(ErrorCode::kTooLarge, "JSON of {} with more than {} values; send less in one request", human_bytes(text.size()),
                values_max);
  }
  return {};
}

/// REQUIRES: check_size() passed.
Result<Json> parse(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kJsonDepthMax;
  boost::json::stream_parser parser({}, options);
  boost::system::error_code error;
  const std::size_t consumed = parser.write_some(text.data(), text.size(), error);
  if (!error && consumed < text.size()) {
    const std::string_view rest = trim(text.substr(consumed));
    if (!rest.empty()) return fail(ErrorCode::kInvalidArgument, "not JSON: more text after the value, at byte {}", consumed);
  }
  if (!error) parser.finish(error);
  if (error) return fail(ErrorCode::kInvalidArgument, "not JSON: {} at byte {}", error.message(), consumed);
  Json value = parser.release();
  if (has_infinity(value)) return fail(ErrorCode::kInvalidArgument, "not JSON: a number is out of range");
  return value;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  JsonSize size;
  size.feed(text);
  FOOTNOTE_CHECK(check_size(text, size, json_values_max(text.size())));
  return parse(text);
}

Result<Json> parse_request_json(std::string_view text, std::size_t values_max) {
  JsonSize size;
  size.feed(text);
  FOOTNOTE_CHECK(check_size(text, size, values_max));
  FOOTNOTE_TRY(Json value, parse(text));
  if (size.members() != count_members(value)) return fail(ErrorCode::kInvalidArgument, "an object has the same key twice");
  return value;
}

Result<Json> parse_request_json(std::string_view text) { return parse_request_json(text, json_request_values_max(text.size())); }

std::string to_text(const Json& value) {
  std::string out;
  write(out, value);
  return out;
}

void append_floats(std::string& out, std::span<const float> values) {
  char separator = '[';
  for (const float value : values) {
    out.push_back(separator);
    if (std::isfinite(value)) {
      write_number(out, value);
    } else {
      out += "null";
    }
    separator = ',';
  }
  out += values.empty() ? "[]" : "]";
}

double json_number(float value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  double out = 0;
  if (!std::isfinite(value) || error != std::errc{} || std::from_chars(buffer.data(), end, out).ec != std::errc{}) return value;
  return out;
}

Result<JsonReader> JsonReader::of(const Json& value, std::string path) {
  if (!value.is_object()) {
    return fail_field(ErrorCode::kInvalidArgument, path, "{} must be a JSON object", path.empty() ? "the body" : "'" + path + "'");
  }
  return JsonReader(value.get_object(), std::move(path));
}

std::string JsonReader::path_of(std::string_view key) const { return path_.empty() ? std::string(key) : path_ + "." + std::string(key); }

const Json* JsonReader::find(std::string_view key) const {
  const Json* value = object_->if_contains(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

bool JsonReader::has(std::string_view key) const { return find(key) != nullptr; }

Result<std::string> JsonReader::required_string(std::string_view key, std::size_t bytes_max) const {
  FOOTNOTE_TRY(auto text, optional_string(key, bytes_max));
  if (!text || trim(*text).empty()) {
    return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' is required and must be a non-empty string", path_of(key));
  }
  return *std::move(text);
}

Result<std::optional<std::string>> JsonReader::optional_string(std::string_view key, std::size_t bytes_max) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be a string", path_of(key));
  if (value->get_string().size() > bytes_max) {
    return fail_field(ErrorCode::kTooLarge, path_of(key), "'{}' is over the limit of {} bytes", path_of(key), bytes_max);
  }
  return std::string(value->get_string());
}

Result<std::optional<std::int64_t>> JsonReader::optional_integer(std::string_view key, std::int64_t min, std::int64_t max) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  std::int64_t number = 0;
  if (value->is_int64()) {
    number = value->get_int64();
  } else {
    return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be a whole number", path_of(key));
  }
  if (number < min || number > max) {
    return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be between {} and {}", path_of(key), min, max);
  }
  return number;
}

Result<std::optional<double>> JsonReader::optional_number(std::string_view key, double min, double max) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be a number", path_of(key));
  const double number = value->to_number<double>();
  if (number < min || number > max) {
    return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be between {} and {}", path_of(key), min, max);
  }
  return number;
}

Result<std::optional<bool>> JsonReader::optional_bool(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be true or false", path_of(key));
  return value->get_bool();
}

Result<std::optional<std::vector<std::string>>> JsonReader::optional_strings(std::string_view key, std::size_t count_max,
                                                                             std::size_t bytes_max) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' must be a list of strings", path_of(key));
  const JsonArray& array = value->get_array();
  if (array.size() > count_max) {
    return fail_field(ErrorCode::kTooLarge, path_of(key), "'{}' has {} entries; at most {} are allowed", path_of(key), array.size(),
                      count_max);
  }
  std::vector<std::string> out;
  out.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", path_of(key), i);
    if (!array[i].is_string()) return fail_field(ErrorCode::kInvalidArgument, path, "'{}' must be a string", path);
    if (array[i].get_string().size() > bytes_max) {
      return fail_field(ErrorCode::kTooLarge, path, "'{}' is over the limit of {} bytes", path, bytes_max);
    }
    out.emplace_back(array[i].get_string());
  }
  return out;
}

Result<std::optional<JsonReader>> JsonReader::optional_object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  FOOTNOTE_TRY(JsonReader reader, JsonReader::of(*value, path_of(key)));
  return reader;
}

Result<const JsonArray*> JsonReader::required_array(std::string_view key, std::size_t count_max) const {
  const Json* value = find(key);
  if (value == nullptr || !value->is_array()) {
    return fail_field(ErrorCode::kInvalidArgument, path_of(key), "'{}' is required and must be a list", path_of(key));
  }
  if (value->get_array().size() > count_max) {
    return fail_field(ErrorCode::kTooLarge, path_of(key), "'{}' has {} entries; at most {} are allowed", path_of(key),
                      value->get_array().size(), count_max);
  }
  return &value->get_array();
}

Result<void> JsonReader::only(std::initializer_list<std::string_view> known) const {
  for (const auto& entry : *object_) {
    const std::string_view key = entry.key();
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto nearest = std::ranges::min_element(known, {}, [&](std::string_view k) { return edit_distance(k, key, 3); });
    if (nearest != known.end() && edit_distance(*nearest, key, 3) <= 3) {
      return fail_field(ErrorCode::kInvalidArgument, path_of(key), "unknown field '{}'; did you mean '{}'?", path_of(key),
                        path_of(*nearest));
    }
    return fail_field(ErrorCode::kInvalidArgument, path_of(key), "unknown field '{}'", path_of(key));
  }
  return {};
}

}  // namespace footnote
