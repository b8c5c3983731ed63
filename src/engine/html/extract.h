#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::html {

/// Longer input is refused with kTooLarge.
inline constexpr std::size_t kInputBytesMax = 16u << 20;
/// Elements nested deeper than this are cut off with everything behind them; Page::cut says so.
inline constexpr int kDepthMax = 256;
/// Attributes of one tag past this many are dropped before parsing: the parser compares each with all others.
inline constexpr std::size_t kAttributesMax = 128;

/// A longer <html lang> is none.
inline constexpr std::size_t kLanguageBytesMax = 35;

enum class BlockKind { kHeading, kParagraph, kListItem, kTableRow, kCode, kQuote };

/// One block of the readable text: bytes [begin, end) of Page::text. Blocks stand in order and do not overlap.
struct Block {
  BlockKind kind = BlockKind::kParagraph;
  int level = 0;  ///< Headings: 1 to 6. List items: nesting from 1.
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What a reader would see of a page.
///
/// `text` is well-formed UTF-8 with "\n" line ends: blocks are set apart by a blank line, rows of one table and items
/// of one list by a line end. Headings are plain lines, list items start with "- " or "1. ", a table row reads
/// "cell | cell", <pre> is verbatim. White space is folded as a browser folds it, entities are decoded.
struct Page {
  std::string text;
  std::vector<Block> blocks;
  std::string title;          ///< <title>, else og:title; folded.
  std::string language;       ///< <html lang>, lower case ("en-gb"); empty when it is no language tag.
  std::string canonical_url;  ///< <link rel=canonical href>, only http(s), without spaces or control characters.
  std::string description;    ///< <meta name=description>.
  bool cut = false;           ///< Nesting past kDepthMax: the page's end is missing.
};

/// Which part of the page is read.
enum class Region {
  kContent,  ///< <main>, <article> or the densest block of text; navigation and the like dropped.
  kBody,     ///< The whole body; scripts, styles and hidden parts dropped.
};

struct ExtractOptions {
  Region region = Region::kContent;
};

/// Reads an HTML page or fragment. UTF-8 is assumed and malformed bytes are repaired. Never loads anything, never
/// resolves external entities. Linear in the input for practical purposes; see the bounds above. Thread-safe.
/// kTooLarge past kInputBytesMax. Broken markup is not an error.
Result<Page> extract(std::string_view html, const ExtractOptions& options = {});

}  // namespace footnote::html
