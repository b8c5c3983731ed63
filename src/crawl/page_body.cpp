#include "crawl/page_body.h"

#include "base/text.h"
#include "formats/encoding.h"
#include "formats/format.h"

namespace footnote::crawl {

const std::vector<std::string>& page_media_types() {
  static const std::vector<std::string> types = {"text/*",
                                                 "application/xhtml+xml",
                                                 "application/xml",
                                                 "application/json",
                                                 "application/pdf",
                                                 "application/octet-stream",
                                                 "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                                                 "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                                                 "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                                                 "application/vnd.oasis.opendocument.text",
                                                 "application/epub+zip"};
  return types;
}

bool is_html(const FetchedPage& page) {
  if (page.media_type.empty()) return trim(page.body).starts_with('<');
  return page.media_type == "text/html" || page.media_type == "application/xhtml+xml";
}

std::string media_type_of(const FetchedPage& page, const WebUrl& url) {
  if (is_html(page)) return "text/html";
  const std::string suffix = formats::suffix_of(url.path);
  // Servers send Markdown as plain text, and documents as bytes: their names say more.
  const bool is_vague = page.media_type.empty() || page.media_type == "text/plain" || page.media_type == "application/octet-stream";
  if (page.media_type == "text/markdown" || (is_vague && suffix == "md")) return "text/markdown";
  return is_vague ? std::string() : page.media_type;
}

std::string decoded_body(FetchedPage& page) {
  if (page.charset.empty() || page.charset == "utf-8" || page.charset == "utf8" || !formats::is_text(page.body))
    return std::move(page.body);
  return formats::decode(page.body, page.charset).text;
}

}  // namespace footnote::crawl
