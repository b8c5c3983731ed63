#include "crawl/page_text.h"

#include "base/page_url.h"
#include "crawl/page_body.h"
#include "crawl/web_reader.h"
#include "formats/read.h"

namespace footnote::crawl {

Result<PageText> read_page(const CallContext& call, Crawler& crawler, std::string_view url) {
  FOOTNOTE_TRY(FetchedPage page,
               crawler.fetch(call, {.url = std::string(url), .media_types = page_media_types(), .body_bytes_max = kPageBytesMax}));
  if (page.status == 404 || page.status == 410) return fail(ErrorCode::kNotFound, "the page is not there ({})", page.status);
  if (!page.is_ok()) return fail(ErrorCode::kUnavailable, "its server answers with {}", page.status);
  FOOTNOTE_TRY(const WebUrl final_url, parse_web_url(page.final_url));
  PageText out;
  out.url = page.final_url;
  out.document.key = canonical_url(page.final_url).value_or(page.final_url);
  out.document.url = out.document.key;
  out.document.media_type = media_type_of(page, final_url);
  out.document.content = decoded_body(page);
  FOOTNOTE_TRY(auto parsed, formats::read_document(final_url.path, out.document.media_type, out.document.content, call));
  out.title = parsed.attributes.title;
  out.text = std::move(parsed.text);
  return out;
}

}  // namespace footnote::crawl
