#pragma once

#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::chunk {

/// The sentences of a text (plain or Markdown), as ranges in it: in order, not overlapping, without white space at
/// either end, and together holding every byte that is not ASCII white space. Headings, list items, table rows and
/// lines of fenced code are units of their own; a hard-wrapped line is not an end. Knows abbreviations, initials,
/// decimals, closing quotes and brackets, and the full stops of CJK, Indic, Arabic, Armenian and Ethiopic scripts.
/// Linear in the text. REQUIRES: well-formed UTF-8.
std::vector<TextRange> split_sentences(std::string_view text);

/// The lines of a text that are not blank, trimmed: for code and tables.
std::vector<TextRange> split_lines(std::string_view text);

}  // namespace footnote::chunk
