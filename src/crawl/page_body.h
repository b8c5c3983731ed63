#pragma once

#include <string>
#include <vector>

#include "engine/url/web_url.h"
#include "ports/crawler.h"

namespace footnote::crawl {

/// What a page may be; other bodies stay on their server.
const std::vector<std::string>& page_media_types();

bool is_html(const FetchedPage& page);

/// The page's media type for formats::read_document; empty: to be detected.
std::string media_type_of(const FetchedPage& page, const WebUrl& url);

/// The body, as UTF-8 if the server named another charset; formats/ finds out the rest. Takes it out of the page.
std::string decoded_body(FetchedPage& page);

}  // namespace footnote::crawl
