#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace footnote {

/// A path to values inside a JSON object: "name", "address.city", "items[].price", "items[0].price"; "\"a.b\".c" quotes a key that
/// contains a dot. The path enters a list only where it says "[]" (every element) or "[n]" (one element).
struct JsonPath {
  enum class Kind : std::uint8_t { kKey, kIndex, kEach };
  struct Step {
    Kind kind = Kind::kKey;
    std::string key;        ///< For kKey.
    std::size_t index = 0;  ///< For kIndex.
    auto operator<=>(const Step&) const = default;
  };
  std::vector<Step> steps;  ///< The first is a key.

  bool operator==(const JsonPath&) const = default;
  /// Whether it has other steps than keys.
  bool enters_lists() const;
};

/// About as many steps as parse_json() allows levels.
inline constexpr std::size_t kJsonPathStepsMax = 64;
/// kInvalidArgument for an empty path, an empty key, anything in brackets that is not a whole number, or more than kJsonPathStepsMax steps.
Result<JsonPath> parse_json_path(std::string_view text);

/// Calls `found` for each value at the path. A list at the end of the path counts as one value.
void visit_values(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found);

/// Like visit_values(), but visits each element of a list at the end of the path, for conditions such as "any of these".
void visit_elements(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found);

/// Removes the value at the path. True when there was one. A path that ends in "[]" empties the list.
bool erase_path(JsonObject& object, const JsonPath& path);

/// Copies only what the paths select, keeping the structure around it. A list is entered by "[]" alone: of a list that a path enters
/// by "[n]", or by a key, an empty list remains. What is neither object nor list is copied although a path goes on below it.
JsonObject select_paths(const JsonObject& object, const std::vector<JsonPath>& paths);
/// The opposite of select_paths: a copy without what the paths select.
JsonObject drop_paths(const JsonObject& object, const std::vector<JsonPath>& paths);

}  // namespace footnote
