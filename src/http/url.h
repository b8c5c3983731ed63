#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace footnote::http {

inline constexpr std::size_t kUrlBytesMax = 8 << 10;
inline constexpr std::size_t kQueryParametersMax = 256;

enum class Scheme { kHttp, kHttps };

/// Absolute URL of a configured upstream: http[s]://host[:port][/path][?query].
struct Url {
  Scheme scheme = Scheme::kHttp;
  std::string host;  ///< Lower case; IPv6 without brackets.
  std::uint16_t port = 80;
  std::string target = "/";  ///< Path and query as sent on the wire; never empty.

  /// "host:port", with brackets around IPv6: for messages and connection pools.
  std::string authority() const;
  /// The Host header: includes the port unless it is the scheme's default.
  std::string host_header() const;
};

/// kInvalidArgument for other schemes, user info, a fragment, an empty or malformed host, a bad port, control characters, spaces, non-ASCII
/// bytes, or more than kUrlBytesMax bytes. Deliberately strict: not for URLs from the web.
Result<Url> parse_url(std::string_view text);

/// True for "host", "host:port", "[v6]" and "[v6]:port", as accepted by parse_url.
bool is_authority(std::string_view text);

/// Joins a configured base and a path with one slash. "http://h/v1" + "/models" = "http://h/v1/models".
std::string join_url(std::string_view base, std::string_view path);

/// Encodes every byte except [A-Za-z0-9-._~] as %XX.
std::string percent_encode(std::string_view text);
/// kInvalidArgument for a broken escape, a NUL, or bytes that are not UTF-8. '+' is unchanged.
Result<std::string> percent_decode(std::string_view text);
/// "a=1&b=x+y": decoded, '+' as a space, in order. kTooLarge beyond kQueryParametersMax.
Result<NameValues> parse_query(std::string_view query);

}  // namespace footnote::http
