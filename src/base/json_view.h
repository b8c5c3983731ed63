#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace footnote {

/// Lenient access to JSON that is only displayed: a missing value, or one of another type, reads as empty, 0 or null. The views live as
/// long as the value.
const Json& value_at(const Json& object, std::string_view key);
std::string_view text_at(const Json& object, std::string_view key);
double number_at(const Json& object, std::string_view key);
std::int64_t integer_at(const Json& object, std::string_view key);
bool flag_at(const Json& object, std::string_view key);
const JsonArray& array_at(const Json& object, std::string_view key);

}  // namespace footnote
