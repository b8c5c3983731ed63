#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"

namespace footnote::html {

/// Longer input is rejected with kTooLarge.
inline constexpr std::size_t kInputBytesMax = 16u << 20;
/// Parsing stops at elements nested deeper than this; Page::cut is then set.
inline constexpr int kDepthMax = 256;
/// A longer <html lang> is ignored.
inline constexpr std::size_t kLanguageBytesMax = 35;

enum class BlockKind { kHeading, kParagraph, kListItem, kTableRow, kCode, kQuote };

/// One block of the readable text: bytes [begin, end) of Page::text. Blocks are in order and do not overlap.
struct Block {
  BlockKind kind = BlockKind::kParagraph;
  int level = 0;  ///< Headings: 1 to 6. List items: nesting depth from 1.
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// From this byte of Page::text on, the text comes from this line of the file; each line end in the text advances to the next line.
struct LineMark {
  std::size_t offset = 0;
  int line = 1;
};

/// The visible text of a page.
///
/// `text` is well-formed UTF-8 with "\n" line ends. A blank line separates blocks; a line end separates the rows of a table and the items
/// of a list. Headings are plain lines, list items start with "- " or "1. ", a table row reads "cell | cell", <pre> is verbatim. White
/// space is collapsed as in a browser, entities are decoded.
struct Page {
  std::string text;
  std::vector<Block> blocks;
  std::vector<LineMark> lines;  ///< In order, at least one per block. The parser cannot count beyond line 65,535.
  std::string title;            ///< <title>, else og:title; white space collapsed.
  std::string language;         ///< <html lang> in lower case ("en-gb"); empty when it is not a language tag.
  std::string canonical_url;    ///< <link rel=canonical href>; only http(s), without spaces or control characters.
  std::string description;      ///< <meta name=description>.
  bool cut = false;             ///< Nested deeper than kDepthMax, or more tags than the page may have (guard.h): the rest is missing.
};

/// Which part of the page to read.
enum class Region {
  kContent,  ///< <main>, <article> or the densest block of text, without navigation and the like.
  kBody,     ///< The whole body, without scripts, styles and hidden parts.
};

struct ExtractOptions {
  Region region = Region::kContent;
};

/// Extracts the text of an HTML page or fragment. Assumes UTF-8 and repairs malformed bytes. Never loads anything or resolves external
/// entities. Linear time in practice; see the bounds above. Thread-safe. kTooLarge beyond kInputBytesMax; kCancelled or kDeadlineExceeded
/// once `call` ended. Broken markup is not an error.
Result<Page> extract(std::string_view html, const ExtractOptions& options = {}, const CallContext& call = {});

}  // namespace footnote::html
