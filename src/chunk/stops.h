#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace footnote::chunk {

/// Where sentences end inside a paragraph: offsets behind the full stop and what closes with it (quotes, brackets,
/// footnote marks), ascending, without the paragraph's own end. A stop counts when what stands before it is no
/// abbreviation, initial or list number, and what follows does not go on in lower case.
std::vector<std::size_t> find_stops(std::string_view paragraph);

}  // namespace footnote::chunk
