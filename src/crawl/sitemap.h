#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::crawl {

/// Limits of the sitemap protocol for one file; the rest is ignored.
inline constexpr std::size_t kSitemapEntriesMax = 50'000;
inline constexpr std::size_t kSitemapBytesMax = 50u << 20;

struct SitemapEntry {
  std::string url;       ///< As written, trimmed.
  std::string modified;  ///< <lastmod>, as written; empty: none.
};

/// What a sitemap lists: pages, or other sitemaps.
struct Sitemap {
  std::vector<SitemapEntry> pages;
  std::vector<SitemapEntry> sitemaps;
  bool cut = false;  ///< Damaged, or past the limits: what was read up to there.
};

/// Reads XML (a urlset or an index) or text with an address a line. kUnsupported: neither, and nothing was read.
Result<Sitemap> parse_sitemap(std::string_view bytes);

/// The content of a gzip file; bytes that are none come back as they are. kTooLarge past `bytes_max`, kUnsupported if damaged.
Result<std::string> unpack_gzip(std::string_view bytes, std::size_t bytes_max);

}  // namespace footnote::crawl
