// Sitemaps: XML, lists of addresses, and gzip files of them.
#include "crawl/sitemap.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  constexpr std::size_t kUnpackedMax = 1u << 20;
  const auto text = crawl::unpack_gzip(fuzz::as_text(data, size), kUnpackedMax);
  if (!text) return 0;
  FOOTNOTE_ASSERT(text->size() <= kUnpackedMax);
  const auto sitemap = crawl::parse_sitemap(*text);
  if (!sitemap) {
    FOOTNOTE_ASSERT(!sitemap.error().message.empty());
    return 0;
  }
  FOOTNOTE_ASSERT(sitemap->pages.size() + sitemap->sitemaps.size() <= crawl::kSitemapEntriesMax);
  std::size_t bytes = 0;
  for (const auto* list : {&sitemap->pages, &sitemap->sitemaps}) {
    for (const crawl::SitemapEntry& entry : *list) {
      FOOTNOTE_ASSERT(!entry.url.empty());
      bytes += entry.url.size() + entry.modified.size();
    }
  }
  // Without entities of its own, a file holds no more text than bytes; in other encodings up to three bytes for each.
  FOOTNOTE_ASSERT(bytes <= 3 * text->size());
  return 0;
}
