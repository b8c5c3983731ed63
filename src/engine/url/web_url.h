#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// Longer URLs are refused.
inline constexpr std::size_t kWebUrlBytesMax = 2048;

/// An http or https URL of the web, taken apart by the parser of the library that fetches it: what is checked is what is connected to.
struct WebUrl {
  bool secure = false;
  std::string host;  ///< Lower case, ASCII (internationalised names as xn--), numeric IPv4 in dotted form, IPv6 without brackets.
  std::uint16_t port = 80;
  std::string path = "/";  ///< Begins with '/'; without ".." and "." parts.
  std::string query;       ///< Without the '?'.
  std::string text;        ///< The whole URL, normalised, without its fragment.

  /// "https://host[:port]", without a default port.
  std::string origin() const;
};

/// kInvalidArgument: another scheme, a user name or password, a malformed or empty host, a bad port, a control character or backslash, or
/// more than kWebUrlBytesMax bytes. Spaces and non-ASCII characters of path and query are percent-encoded, as browsers do.
Result<WebUrl> parse_web_url(std::string_view text);

/// A reference as written on a page ("../a?b", "//host/x", "https://...") against the page's URL or its <base>. Errors as parse_web_url.
Result<WebUrl> resolve_web_url(const WebUrl& base, std::string_view reference);

}  // namespace footnote
