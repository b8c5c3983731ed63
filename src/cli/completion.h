#pragma once

#include <string>

#include "cli/command_line.h"

namespace footnote::cli {

/// A completion script for the shell, made from the command tree: commands, their options, the values of options
/// that have a closed set, and files where a path is asked for.
std::string completion_script(Shell shell, const CommandNode& root);

}  // namespace footnote::cli
