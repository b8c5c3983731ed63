#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::chunk {

/// One value of a front matter block. `items` holds a list's items, or the scalar alone; empty for what was
/// stepped over (nested maps).
struct YamlValue {
  std::vector<std::string> items;
  bool is_list = false;
  /// The first item, or "".
  std::string scalar() const { return items.empty() ? std::string() : items.front(); }
};

/// block  := line*
/// line   := blank | "#" comment | name ":" value | indented | "- " item
/// value  := plain | "quoted" | 'quoted' | "[" item ("," item)* "]" | "|" or ">" with indented lines | nothing
/// A name's list may follow in lines of "- item", indented or not; other indented lines (nested maps) are stepped
/// over. nullopt when a line is none of these: then it is not YAML that anyone meant.
std::optional<std::map<std::string, YamlValue, std::less<>>> parse_yaml_subset(std::string_view block, std::size_t items_max);

}  // namespace footnote::chunk
