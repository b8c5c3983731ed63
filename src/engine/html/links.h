#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::html {

/// Links of one page; more are left out.
inline constexpr std::size_t kLinksMax = 10'000;

struct PageLink {
  std::string href;       ///< As written, entities decoded, trimmed; not resolved.
  std::string rel;        ///< Lower case: "nofollow".
  std::string type = {};  ///< Of <link>: "text/markdown".
};

/// Where a page points, and what it says to crawlers.
struct PageLinks {
  std::string base;                  ///< <base href>; empty: none.
  std::string canonical;             ///< <link rel=canonical>; empty: none.
  std::string robots;                ///< The contents of <meta name=robots>, lower case, with commas between.
  std::vector<PageLink> anchors;     ///< <a> and <area>, in order.
  std::vector<PageLink> alternates;  ///< <link rel=alternate>, in order.
};

/// Reads the tags of a page in linear time, without scripts, styles, comments and templates. Never fails; malformed tags are skipped.
PageLinks read_links(std::string_view html);

}  // namespace footnote::html
