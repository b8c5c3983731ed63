#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace footnote::chunk {

/// Sentence ends inside a paragraph: offsets after the full stop and its closing quotes, brackets and footnote marks, ascending, without
/// the paragraph's own end. A stop counts unless it follows an abbreviation, initial or list number, or the text continues in lower case.
std::vector<std::size_t> find_stops(std::string_view paragraph);

}  // namespace footnote::chunk
