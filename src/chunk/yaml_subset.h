#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::chunk {

/// One value of a front matter block. `items` holds a list's items, or one scalar; empty for skipped values (nested maps).
struct YamlValue {
  std::vector<std::string> items;
  bool is_list = false;
  /// The first item, or "".
  std::string scalar() const { return items.empty() ? std::string() : items.front(); }
};

/// block  := line*
/// line   := blank | "#" comment | name ":" value | indented | "- " item
/// value  := plain | "quoted" | 'quoted' | "[" item ("," item)* "]" | "|" or ">" with indented lines | nothing
/// A list may follow its name as lines of "- item", indented or not; other indented lines (nested maps) are skipped. nullopt if a line
/// matches none of these: the block is not meant as YAML.
std::optional<std::map<std::string, YamlValue, std::less<>>> parse_yaml_subset(std::string_view block, std::size_t items_max);

}  // namespace footnote::chunk
