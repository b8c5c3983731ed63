#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace footnote::html {

/// A page rewritten so that the parser sees exactly the tags that the guard counted, in linear time and bounded memory.
struct GuardedPage {
  std::string html;
  bool cut = false;  ///< The page has more than nodes_max() tags and attributes: the rest is missing.
};

/// The maximum number of tags and attributes together, by the size of the page. The parser's tree has one or two nodes of about 120 bytes
/// for each.
inline constexpr std::size_t kNodesBase = 100'000;
inline constexpr std::size_t kBytesPerNode = 32;
constexpr std::size_t nodes_max(std::size_t page_bytes) { return kNodesBase + page_bytes / kBytesPerNode; }

/// Rewrites a page:
/// - Malformed UTF-8 and NUL become U+FFFD.
/// - Comments, declarations and the contents of scripts and styles are removed.
/// - A tag keeps its name and the attributes that extraction reads, each once, with the value in double quotes, followed by the line ends
/// that were removed before it. A second <html> or <body> is removed.
/// - Every other "<" becomes "&lt;".
/// So no quote, comment or declaration can make the parser see a tag that was not counted here, and no tag has many attributes, which the
/// parser would compare with each other. Rewriting a page that was not cut a second time changes nothing.
GuardedPage guarded(std::string_view html);

}  // namespace footnote::html
