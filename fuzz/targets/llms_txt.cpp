// A site's list of its pages for language models.
#include "crawl/llms_txt.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const auto list = crawl::parse_llms_txt(fuzz::as_text(data, size));
  if (!list) {
    FOOTNOTE_ASSERT(list.error().code == ErrorCode::kUnsupported);
    return 0;
  }
  FOOTNOTE_ASSERT(list->links.size() <= crawl::kLlmsLinksMax && list->title.size() + list->summary.size() <= 2 * size);
  for (const crawl::LlmsLink& link : list->links) {
    FOOTNOTE_ASSERT(!link.url.empty() && link.url.find_first_of(" )\n") == std::string::npos);
  }
  return 0;
}
