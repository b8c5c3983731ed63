#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace footnote {

/// A longer address is no page's.
inline constexpr std::size_t kPageUrlBytesMax = 2048;

/// One spelling for every address of a web page: scheme and host in lower case, without a default port, the fragment, a slash at the
/// end of the path, and query parameters that follow a visitor around (utm_*, click ids); path and query percent-encoded as browsers do.
/// "HTTPS://Shop.Example:443/a/?utm_source=x#top" is "https://shop.example/a". None for what is no http or https address of a page: another
/// scheme, no host, a user name in it, spaces or control characters, more than kPageUrlBytesMax bytes.
std::optional<std::string> canonical_url(std::string_view url);

/// "https://shop.example/a?b" -> "https://shop.example". REQUIRES: `page` is canonical, or empty.
std::string_view origin_of(std::string_view page);

/// Whether the page is the one at `prefix` or beneath it: "/returns" holds "/returns/eu" and "/returns?step=2", not "/returnsome".
/// REQUIRES: both are canonical.
bool is_page_under(std::string_view page, std::string_view prefix);

}  // namespace footnote
