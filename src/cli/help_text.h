#pragma once

#include <string_view>

namespace footnote::cli {

/// The text below the options in a command's help ("" for the program's own): examples first.
std::string_view help_footer(std::string_view command);

}  // namespace footnote::cli
