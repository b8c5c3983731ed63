#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace footnote::html {

/// A page rewritten so that the parser reads it as the guard did, in linear time and bounded memory.
struct GuardedPage {
  std::string html;
  bool cut = false;  ///< The page has more than nodes_max() tags and attributes: the rest is missing.
};

/// Tags and attributes that a page of that size may have together. The parser's tree has one or two nodes of about 120 bytes for each.
inline constexpr std::size_t kNodesBase = 100'000;
inline constexpr std::size_t kBytesPerNode = 32;
constexpr std::size_t nodes_max(std::size_t page_bytes) { return kNodesBase + page_bytes / kBytesPerNode; }

/// Malformed UTF-8 and NUL become U+FFFD. Comments, declarations and the contents of scripts and styles are left out. A tag has its name
/// and the attributes that extraction reads, each once, its value in double quotes, then the line ends that were left out before it; a
/// second <html> or <body> is left out. Every other "<" becomes "&lt;". So no quote, comment or declaration can make the parser see a tag
/// that was not counted here, and no tag has attributes that it would have to compare. A guarded page that is not cut is its own guarded
/// page.
GuardedPage guarded(std::string_view html);

}  // namespace footnote::html
