#pragma once

#include <string_view>

namespace footnote::cli {

/// What stands below the options in the help of a command ("" for the program's own): examples first.
std::string_view help_footer(std::string_view command);

}  // namespace footnote::cli
