#pragma once

#include <string_view>
#include <vector>

#include "chunk/parse.h"

namespace footnote::chunk {

/// Texts over these limits go to the line splitter instead of cmark. cmark's inline parser is quadratic in the brackets and delimiters of a
/// paragraph, its block parser in nesting, its tables in columns.
inline constexpr std::size_t kMarkdownBytesMax = 4u << 20;
inline constexpr std::size_t kMarkdownParagraphBytesMax = 256u << 10;
inline constexpr std::size_t kMarkdownBracketsMax = 2000;      ///< '[' in one paragraph.
inline constexpr std::size_t kMarkdownDelimitersMax = 10'000;  ///< * _ ~ ` < & in one paragraph.
inline constexpr std::size_t kMarkdownNestingMax = 48;         ///< Quote and list markers before one line's text.
inline constexpr std::size_t kMarkdownIndentMax = 192;         ///< Columns before a list marker.
inline constexpr std::size_t kMarkdownColumnsMax = 256;        ///< '|' in one line.

/// Memory limit for cmark's tree; texts that need more go to the line splitter too. The tree has a node of about 200 bytes for each
/// paragraph, line, inline mark and table cell, including the missing cells of short rows.
inline constexpr std::size_t kMarkdownMemoryBase = 16u << 20;
inline constexpr std::size_t kMarkdownMemoryPerByte = 12;
constexpr std::size_t markdown_memory_max(std::size_t text_bytes) { return kMarkdownMemoryBase + kMarkdownMemoryPerByte * text_bytes; }

/// True if cmark parses the text in practically linear time.
bool is_safe_markdown(std::string_view text);

/// Markdown blocks found by cmark, or by lines if the text is not safe for cmark or its tree is too large. Blocks are whole lines; headings
/// inside quotes and lists do not count as document headings. kCancelled or kDeadlineExceeded once `call` ended. REQUIRES: normalised text.
Result<std::vector<Block>> markdown_blocks(std::string_view text, int first_line, const CallContext& call = {});

/// Markdown blocks found by looking at lines only: headings, fences, tables, list items, quotes, paragraphs.
std::vector<Block> markdown_blocks_by_lines(std::string_view text, int first_line);

/// Blocks of plain text: paragraphs between blank lines, list items, and titles underlined with === or ---
/// (levels in order of their first use).
std::vector<Block> plain_text_blocks(std::string_view text, int first_line);

}  // namespace footnote::chunk
