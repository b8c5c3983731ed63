#pragma once

#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::chunk {

/// The sentences of a text (plain or Markdown) as ranges: in order, not overlapping, trimmed of white space, and together covering every
/// byte that is not ASCII white space. Headings, list items, table rows and lines of fenced code are separate units; a hard line wrap does
/// not end a sentence. Handles abbreviations, initials, decimals, closing quotes and brackets, and the full stops of CJK, Indic, Arabic,
/// Armenian and Ethiopic scripts. Linear in the text. REQUIRES: well-formed UTF-8.
std::vector<TextRange> split_sentences(std::string_view text);

/// The non-blank lines of a text, trimmed: for code and tables.
std::vector<TextRange> split_lines(std::string_view text);

}  // namespace footnote::chunk
