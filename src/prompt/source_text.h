#pragma once

#include <string>
#include <string_view>

namespace footnote::prompt {

/// Text without the characters that a person does not see but a model reads: zero-width ones, bidirectional controls, variation
/// selectors, the tag block.
std::string without_invisible(std::string_view text);

}  // namespace footnote::prompt
