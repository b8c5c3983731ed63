// Feeds: RSS, RDF and Atom.
#include "crawl/feed.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const auto feed = crawl::parse_feed(fuzz::as_text(data, size));
  if (!feed) {
    FOOTNOTE_ASSERT(feed.error().code == ErrorCode::kUnsupported);
    return 0;
  }
  FOOTNOTE_ASSERT(feed->entries.size() <= crawl::kFeedEntriesMax);
  for (const crawl::FeedEntry& entry : feed->entries) FOOTNOTE_ASSERT(!entry.url.empty() && entry.title.size() <= 3 * size);
  return 0;
}
