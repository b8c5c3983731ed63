#pragma once

#include <string>

#include "cli/command_line.h"

namespace footnote::cli {

/// A shell completion script made from the command tree: commands, their options, the values of options with a closed set, and files where
/// a path is expected.
std::string completion_script(Shell shell, const CommandNode& root);

}  // namespace footnote::cli
