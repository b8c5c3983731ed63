// Addresses of the web, references on a page, and the links of a page.
#include "engine/url/web_url.h"

#include "base/text.h"
#include "engine/html/links.h"
#include "target.h"

namespace footnote {
namespace {

void check(const Result<WebUrl>& url) {
  if (!url) {
    FOOTNOTE_ASSERT(url.error().code == ErrorCode::kInvalidArgument);
    return;
  }
  FOOTNOTE_ASSERT(!url->host.empty() && url->host == to_lower_ascii(url->host) && url->port != 0);
  FOOTNOTE_ASSERT(url->host.find_first_of("@/?#\\ []%") == std::string::npos);
  FOOTNOTE_ASSERT(url->path.starts_with('/') && url->text.size() <= kWebUrlBytesMax);
  FOOTNOTE_ASSERT(url->text.find_first_of("\\#\r\n\t ") == std::string::npos);
  // Read again it names the same place.
  const auto again = parse_web_url(url->text);
  FOOTNOTE_ASSERT(again && again->secure == url->secure && again->host == url->host && again->port == url->port);
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view text = fuzz::as_text(data, size);
  check(parse_web_url(text));
  static const WebUrl base = parse_web_url("https://site.example/docs/page?x=1").value();
  check(resolve_web_url(base, text));
  const html::PageLinks links = html::read_links(text);
  FOOTNOTE_ASSERT(links.anchors.size() <= html::kLinksMax && links.alternates.size() <= html::kLinksMax);
  for (const html::PageLink& link : links.anchors) check(resolve_web_url(base, link.href));
  return 0;
}
