#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::chunk {

/// Lists, tables and paragraphs up to this size are quoted as a whole; longer ones by item, row or sentence.
inline constexpr std::size_t kQuoteBytesMax = 700;
/// Maximum size of a block together with the line that introduces it.
inline constexpr std::size_t kIntroducedBytesMax = 900;
/// A line up to this length without a full stop is a term or a label of what follows.
inline constexpr std::size_t kTermBytesMax = 80;

enum class QuoteKind { kProse, kList, kTable, kCode };

/// A part of a passage that can be understood on its own.
struct QuoteBlock {
  QuoteKind kind = QuoteKind::kProse;
  TextRange range;
  std::optional<TextRange> header = {};   ///< For a single table row: the header row of its table.
  std::optional<TextRange> heading = {};  ///< The nearest heading before it in the text.

  bool operator==(const QuoteBlock&) const = default;
};

/// What line breaks mean. kWrapped: paragraphs may span lines (Markdown, plain text). kExact: a paragraph is one line, and only code and
/// records have several (extracted web pages, office documents, source code).
enum class LineBreaks { kWrapped, kExact };

/// How line breaks are used in documents of this media type.
LineBreaks line_breaks_of(std::string_view media_type);

/// The blocks of a passage that are worth quoting, in order, without overlap: a paragraph; a list or code with the line that introduces it;
/// a small table, or a row of a larger one with its header; a term with its definition. Headings and rules belong to no block. `headings`
/// lists the heading texts of extracted web pages, where headings are plain lines.
std::vector<QuoteBlock> quote_blocks(std::string_view text, LineBreaks breaks, std::span<const std::string> headings = {});

}  // namespace footnote::chunk
