#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace footnote {

/// The longest URL accepted, in bytes.
inline constexpr std::size_t kPageUrlBytesMax = 2048;

/// The canonical form of a web page's URL: scheme and host in lower case; no default port, fragment, trailing slash or tracking parameters
/// (utm_*, click ids); path and query percent-encoded as browsers do. "HTTPS://Shop.Example:443/a/?utm_source=x#top" becomes
/// "https://shop.example/a".
/// nullopt for another scheme, a missing host, a user name, spaces or control characters, or more than kPageUrlBytesMax bytes.
std::optional<std::string> canonical_url(std::string_view url);

/// "https://shop.example/a?b" -> "https://shop.example". REQUIRES: `page` is canonical, or empty.
std::string_view origin_of(std::string_view page);

/// Whether `page` equals `prefix` or is below it: "/returns" contains "/returns/eu" and "/returns?step=2", not "/returnsome". REQUIRES:
/// both are canonical.
bool is_page_under(std::string_view page, std::string_view prefix);

}  // namespace footnote
