#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace footnote::prompt {

/// Removes characters that a person does not see but a model reads: zero-width ones, bidirectional controls, variation selectors, the tag
/// block.
std::string without_invisible(std::string_view text);

/// Makes untrusted text safe to put between the tags of a prompt. After Unicode folding (NFKC), removal of invisible characters and
/// decoding of entities such as "&lt;", the result neither opens nor closes a source tag in any case, width or spacing: the "<" of such a
/// tag becomes "(". At most `bytes_max` bytes, cut between code points.
std::string as_data(std::string_view text, std::size_t bytes_max);

/// The same for an attribute value in double quotes: one line, without quotes and angle brackets.
std::string as_attribute(std::string_view text, std::size_t bytes_max);

/// The same for a short text in a rule: one line.
std::string as_line(std::string_view text, std::size_t bytes_max);

}  // namespace footnote::prompt
