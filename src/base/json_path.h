#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace footnote {

/// A path to values inside a JSON object: "name", "address.city", "items[].price"; "\"a.b\".c" quotes a key that contains a dot. The path
/// enters a list only where it says "[]".
struct JsonPath {
  struct Step {
    std::string key;
    bool each = false;  ///< "[]" follows the key: visit every element of that list.
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;

  bool operator==(const JsonPath&) const = default;
};

/// kInvalidArgument for an empty path, an empty key, or a bracket other than "[]".
Result<JsonPath> parse_json_path(std::string_view text);

/// Calls `found` for each value at the path. A list at the end of the path counts as one value.
void visit_values(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found);

/// Like visit_values(), but visits each element of a list at the end of the path, for conditions such as "any of these".
void visit_elements(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found);

/// Removes the value at the path. True when there was one.
bool erase_path(JsonObject& object, const JsonPath& path);

}  // namespace footnote
