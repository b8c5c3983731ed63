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

/// Reads the common form of .env files:
///   line := blank | "#" comment | ["export "] NAME "=" value
/// A value is bare (a " #" starts a comment), in single quotes (as it is) or in double quotes (\n, \", \\ are
/// escapes). Nothing is expanded. Of equal names the last counts. kInvalidArgument names `file` and the line.
Result<std::vector<DotEnvEntry>> parse_dot_env(std::string_view text, std::string_view file);

}  // namespace footnote
