#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::crawl {

/// Entries of one feed; the rest is ignored.
inline constexpr std::size_t kFeedEntriesMax = 5'000;

struct FeedEntry {
  std::string url;      ///< As written; may be relative.
  std::string title;    ///< White space collapsed.
  std::string updated;  ///< As written (RFC 822 or RFC 3339); empty: none.
};

struct Feed {
  std::string title;
  std::vector<FeedEntry> entries;
  bool cut = false;  ///< Damaged, or past the limit: what was read up to there.
};

/// Reads RSS 0.9 to 2.0 and Atom. Entries without an address are left out. kUnsupported: no feed.
Result<Feed> parse_feed(std::string_view bytes);

}  // namespace footnote::crawl
