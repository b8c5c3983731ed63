#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chunk/detect.h"
#include "domain/document.h"

namespace footnote::chunk {

/// Counts up whenever the same bytes would give another text, other blocks or other chunks, so that documents
/// parsed by an older build are read again.
inline constexpr int kParseVersion = 2;
/// Longer documents are refused with kTooLarge.
inline constexpr std::size_t kDocumentBytesMax = 16u << 20;

enum class BlockKind { kHeading, kParagraph, kListItem, kTable, kCode, kQuote };

/// One block of a document's text. Blocks stand in order; what lies between one's end and the next one's begin
/// (markers, rules, link definitions) belongs to neither.
struct Block {
  BlockKind kind = BlockKind::kParagraph;
  int level = 0;        ///< Headings: 1 to 6.
  TextRange range;      ///< In ParsedDocument::text.
  int first_line = 1;   ///< As ParsedDocument::first_line counts.
  std::string heading;  ///< Headings: the words alone, without markup.
};

/// A document as the rest of the engine sees it.
struct ParsedDocument {
  /// What chunks' offsets count in, and what a person is shown. Markdown, plain text and CSV: the file's text after
  /// UTF-8 repair and newline normalisation, without front matter. HTML: the readable text.
  std::string text;
  /// The number of the text's first line in the file (front matter comes before it); 1 for HTML.
  int first_line = 1;
  DocumentAttributes attributes;
  std::vector<Block> blocks;
  /// From this document to others. `to_key` is a key where the reference was a relative path, else the slug as
  /// written.
  std::vector<Edge> edges;
  /// A title that stands outside the text (front matter, <title>) while no level-1 heading does: the root of every
  /// heading path.
  std::string root_heading;
  /// Remarks for the document's author: repaired bytes, bad front matter, a page cut short.
  std::vector<std::string> warnings;
};

/// Reads a document. `key` names it (title of last resort, base of relative links). Never fails on bad markup.
/// kTooLarge past kDocumentBytesMax; kUnsupported for bytes that are not text.
Result<ParsedDocument> parse_document(std::string_view key, Format format, std::string_view content);

/// Malformed UTF-8 and NUL become U+FFFD, a byte-order mark goes, "\r\n" and "\r" become "\n".
std::string normalise_text(std::string_view bytes);

}  // namespace footnote::chunk
