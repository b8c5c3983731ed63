#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace footnote {

/// The way to values inside a JSON object: "name", "address.city", "items[].price", "\"a.b\".c" where a key itself holds a dot.
/// A list on the way is entered only where the path says "[]".
struct JsonPath {
  struct Step {
    std::string key;
    bool each = false;  ///< "[]" follows: every element of that list.
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;

  bool operator==(const JsonPath&) const = default;
};

/// kInvalidArgument for an empty path, an empty key, or a bracket that is not "[]".
Result<JsonPath> parse_json_path(std::string_view text);

/// Calls `found` for each value that the path leads to. A list at its end is one value.
void visit_values(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found);

/// The same, and of a list at its end each element: what a condition on "any of these" looks at.
void visit_elements(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found);

/// Takes away what the path leads to. True when something was there.
bool erase_path(JsonObject& object, const JsonPath& path);

}  // namespace footnote
