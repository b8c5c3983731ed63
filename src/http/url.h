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

/// An absolute URL of a configured upstream: http[s]://host[:port][/path][?query].
struct Url {
  Scheme scheme = Scheme::kHttp;
  std::string host;  ///< Lower case; an IPv6 address without its brackets.
  std::uint16_t port = 80;
  std::string target = "/";  ///< Path and query as they go on the wire; never empty.

  /// "host:port", with brackets around IPv6: for messages and connection pools.
  std::string authority() const;
  /// The Host header: the port only where it is not the scheme's own.
  std::string host_header() const;
};

/// kInvalidArgument for other schemes, user info, a fragment, an empty or malformed host, a bad port, control characters,
/// spaces, bytes past ASCII, or more than kUrlBytesMax bytes. Strict on purpose: not for URLs from the web.
Result<Url> parse_url(std::string_view text);

/// True for "host", "host:port", "[v6]" and "[v6]:port", in the form that parse_url takes.
bool is_authority(std::string_view text);

/// Joins a configured base and a path: one slash between them. "http://h/v1" + "/models" = "http://h/v1/models".
std::string join_url(std::string_view base, std::string_view path);

/// Every byte but [A-Za-z0-9-._~] becomes %XX.
std::string percent_encode(std::string_view text);
/// kInvalidArgument for a broken escape, a NUL, or bytes that are not UTF-8. '+' stays as it is.
Result<std::string> percent_decode(std::string_view text);
/// "a=1&b=x+y": decoded, '+' read as a space, in order. kTooLarge past kQueryParametersMax.
Result<NameValues> parse_query(std::string_view query);

}  // namespace footnote::http
