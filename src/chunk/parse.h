#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"
#include "domain/document.h"

namespace footnote::chunk {

/// Bump whenever the same bytes would give another text, other blocks or other chunks, so that documents parsed by an older build are
/// parsed again.
inline constexpr int kParseVersion = 5;
/// Longer documents are refused with kTooLarge.
inline constexpr std::size_t kDocumentBytesMax = 16u << 20;

/// Titles and headings are truncated to this length; the rest is treated as text. Every passage repeats the headings above it, so they must
/// be short.
inline constexpr std::size_t kHeadingBytesMax = 256;
/// Limit on blocks; what exceeds it becomes one paragraph.
inline constexpr std::size_t kBlocksBase = 50'000;
inline constexpr std::size_t kBytesPerBlock = 64;
constexpr std::size_t blocks_max(std::size_t text_bytes) { return kBlocksBase + text_bytes / kBytesPerBlock; }

/// Formats that are parsed here. src/formats converts all other formats to one of these, or to blocks.
enum class Format { kMarkdown, kHtml, kPlainText };

enum class BlockKind { kHeading, kParagraph, kListItem, kTable, kCode, kQuote };

/// One block of a document's text. Blocks are in order; bytes between two blocks (markers, rules, link definitions) belong to neither.
struct Block {
  BlockKind kind = BlockKind::kParagraph;
  int level = 0;        ///< Headings: 1 to 6.
  TextRange range;      ///< In ParsedDocument::text.
  int first_line = 1;   ///< Counted like ParsedDocument::first_line.
  std::string heading;  ///< Headings: the text without markup, at most kHeadingBytesMax.
};

/// A document as the rest of the engine sees it.
struct ParsedDocument {
  /// The text that chunk offsets refer to and that users see. Markdown and plain text: the file's text after UTF-8 repair and newline
  /// normalisation, without front matter. HTML: the readable text.
  std::string text;
  /// The line number in the file of the text's first line (after front matter). 1 if the text was extracted, as from HTML or PDF.
  int first_line = 1;
  /// For extracted text: where its parts are in the file.
  Places places = {};
  DocumentAttributes attributes;
  std::vector<Block> blocks;
  /// References to other documents. `to_key` is a key if the reference was a relative path, else the slug as written.
  std::vector<Edge> edges;
  /// The root of every heading path: a title from outside the text (front matter, <title>), set if there is no level-1 heading.
  std::string root_heading;
  /// Messages for the document's author: repaired bytes, bad front matter, a truncated page.
  std::vector<std::string> warnings;
};

/// Parses a text. `key` is the fallback title and the base of relative links. Never fails on bad markup. kTooLarge past
/// kDocumentBytesMax; kCancelled or kDeadlineExceeded once `call` ended.
Result<ParsedDocument> parse_document(std::string_view key, Format format, std::string_view content, const CallContext& call = {});

/// Sets the title: a given one wins; else the first level-1 heading, else the first heading of any level, else the file name. A given title
/// of a document without a level-1 heading becomes the root of its heading paths.
void settle_title(std::string_view key, std::string given, ParsedDocument& document);

/// The fallback title: "guides/set-up_notes.md" becomes "set up notes".
std::string title_of_key(std::string_view key);

/// A text as a heading: on one line, at most kHeadingBytesMax, cut after a word if that is near.
std::string heading_text(std::string_view text);

/// Malformed UTF-8 and NUL become U+FFFD, a byte-order mark is removed, "\r\n" and "\r" become "\n".
std::string normalise_text(std::string_view bytes);

}  // namespace footnote::chunk
