#include "base/json_view.h"

namespace footnote {

const Json& value_at(const Json& object, std::string_view key) {
  static const Json kNull;
  const JsonObject* fields = object.if_object();
  const Json* found = fields == nullptr ? nullptr : fields->if_contains(key);
  return found == nullptr ? kNull : *found;
}

std::string_view text_at(const Json& object, std::string_view key) {
  const auto* text = value_at(object, key).if_string();
  return text == nullptr ? std::string_view{} : std::string_view(*text);
}

double number_at(const Json& object, std::string_view key) {
  const Json& value = value_at(object, key);
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return 0;
}

std::int64_t integer_at(const Json& object, std::string_view key) {
  const Json& value = value_at(object, key);
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64()) return static_cast<std::int64_t>(value.get_uint64());
  return 0;
}

bool flag_at(const Json& object, std::string_view key) {
  const auto* flag = value_at(object, key).if_bool();
  return flag != nullptr && *flag;
}

const JsonArray& array_at(const Json& object, std::string_view key) {
  static const JsonArray kEmpty;
  const JsonArray* array = value_at(object, key).if_array();
  return array == nullptr ? kEmpty : *array;
}

}  // namespace footnote
