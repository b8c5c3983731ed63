#pragma once

#include <string_view>
#include <vector>

#include "chunk/parse.h"

namespace footnote::chunk {

/// cmark is not asked past these; the line splitter takes over. Its inline parser is quadratic in brackets and
/// delimiters of one paragraph, its block parser in nesting, its tables in columns.
inline constexpr std::size_t kMarkdownBytesMax = 4u << 20;
inline constexpr std::size_t kMarkdownParagraphBytesMax = 256u << 10;
inline constexpr std::size_t kMarkdownBracketsMax = 2000;      ///< '[' in one paragraph.
inline constexpr std::size_t kMarkdownDelimitersMax = 10'000;  ///< * _ ~ ` < & in one paragraph.
inline constexpr std::size_t kMarkdownNestingMax = 48;         ///< Quote and list markers before one line's text.
inline constexpr std::size_t kMarkdownIndentMax = 192;         ///< Columns before a list marker.
inline constexpr std::size_t kMarkdownColumnsMax = 256;        ///< '|' in one line.

/// True when cmark reads the text in time that is linear for practical purposes.
bool is_safe_markdown(std::string_view text);

/// Blocks of Markdown by cmark, or by lines when the text is not safe for it. Whole lines; headings inside quotes and
/// lists are not headings of the document. REQUIRES: normalised text.
std::vector<Block> markdown_blocks(std::string_view text, int first_line);

/// Blocks of Markdown by looking at lines alone: headings, fences, tables, list items, quotes, paragraphs.
std::vector<Block> markdown_blocks_by_lines(std::string_view text, int first_line);

/// Blocks of plain text: paragraphs between blank lines, list items, and titles underlined with === or ---
/// (levels in order of their first use).
std::vector<Block> plain_text_blocks(std::string_view text, int first_line);

}  // namespace footnote::chunk
