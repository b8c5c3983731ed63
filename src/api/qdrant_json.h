#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"

/// Helpers to read bodies, shared by the Qdrant routes.
namespace footnote::api::qdrant {

/// kInvalidArgument that names the field at `path`.
template <class... Args>
std::unexpected<Error> wrong(std::string_view path, fmt::format_string<Args...> format, Args&&... args) {
  return fail_field(ErrorCode::kInvalidArgument, path, "'{}' {}", path, fmt::format(format, std::forward<Args>(args)...));
}

/// nullptr for a missing key and for null.
inline const Json* find(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

}  // namespace footnote::api::qdrant
