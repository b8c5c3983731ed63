#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace footnote::prompt {

/// Text without the characters that a person does not see but a model reads: zero-width ones, bidirectional controls, variation
/// selectors, the tag block.
std::string without_invisible(std::string_view text);

/// Text of others as it may stand between the tags of a prompt. Read after Unicode folding (NFKC), without invisible characters and with
/// entities such as "&lt;" taken for what they mean, it neither opens nor closes a source tag in any case, width or spacing: the "<" of
/// what would is a "(". At most `bytes_max` bytes, cut between code points.
std::string as_data(std::string_view text, std::size_t bytes_max);

/// The same for the value of an attribute in double quotes: one line, without quotes and angle brackets.
std::string as_attribute(std::string_view text, std::size_t bytes_max);

/// The same for a short text in a rule: one line.
std::string as_line(std::string_view text, std::size_t bytes_max);

}  // namespace footnote::prompt
