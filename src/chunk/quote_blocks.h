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
/// A block together with the line that introduces it.
inline constexpr std::size_t kIntroducedBytesMax = 900;
/// A short line without a full stop is a term or a label of what follows.
inline constexpr std::size_t kTermBytesMax = 80;

enum class QuoteKind { kProse, kList, kTable, kCode };

/// A part of a passage that can be understood on its own.
struct QuoteBlock {
  QuoteKind kind = QuoteKind::kProse;
  TextRange range;
  std::optional<TextRange> header = {};   ///< A single table row: the header row of its table.
  std::optional<TextRange> heading = {};  ///< The nearest heading before it in the text.

  bool operator==(const QuoteBlock&) const = default;
};

/// How line breaks are meant. kWrapped: Markdown and plain text, whose paragraphs wrap. kExact: the text of a web page or
/// of an office document, in which a paragraph is one line and only code and records have several; source code.
enum class LineBreaks { kWrapped, kExact };

/// Of the text of a document of this media type.
LineBreaks line_breaks_of(std::string_view media_type);

/// The blocks of a passage worth quoting, in order, without overlap: a paragraph; a list or code with the line that introduces it; a small
/// table, or a row of a larger one with its header; a term with its definition. Headings and rules belong to no block. The text of a web
/// page has its headings as plain lines: `headings` names them.
std::vector<QuoteBlock> quote_blocks(std::string_view text, LineBreaks breaks, std::span<const std::string> headings = {});

}  // namespace footnote::chunk
