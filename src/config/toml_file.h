#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

enum class TomlKind { kString, kInteger, kBool, kFloat, kOther };

/// Limit on a line: a key with thousands of dots creates as many nested tables, and the parser is recursive.
inline constexpr std::size_t kTomlLineBytesMax = 4096;

/// One leaf of a TOML file: its dotted key, its type, and its value as text (empty for kOther).
struct TomlLeaf {
  std::string key;
  TomlKind kind = TomlKind::kOther;
  std::string text;
  std::string kind_name;  ///< For messages: "a string", "an array".
  int line = 0;
};

/// The leaves of a TOML text in file order. kInvalidArgument: not TOML, or a line longer than kTomlLineBytesMax bytes; the message contains
/// `name` and the line.
Result<std::vector<TomlLeaf>> parse_toml(std::string_view text, std::string_view name);

}  // namespace footnote
