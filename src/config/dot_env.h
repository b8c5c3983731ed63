#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

/// One line of a .env file.
struct DotEnvEntry {
  std::string name;
  std::string value;
  int line = 0;
};

/// Parses the common format of .env files:
///   line := blank | "#" comment | ["export "] NAME "=" value
/// A value is bare (" #" starts a comment), in single quotes (literal) or in double quotes (escapes: \n, \", \\). Nothing is expanded.
/// Of duplicate names the last counts. kInvalidArgument names `file` and the line.
Result<std::vector<DotEnvEntry>> parse_dot_env(std::string_view text, std::string_view file);

}  // namespace footnote
