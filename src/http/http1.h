#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

// HTTP/1.1 message text, for the server and the client. No I/O.
namespace footnote::http {

inline constexpr std::size_t kRequestIdBytesMax = 64;

/// Path and query of a request target in origin form ("/a?b") or absolute form ("http://host/a?b"), still encoded. Views into `target`.
/// kInvalidArgument for any other form.
struct Target {
  std::string_view authority;  ///< Absolute form only, not validated; otherwise empty.
  std::string_view path;
  std::string_view query;
};
Result<Target> parse_target(std::string_view target);

/// [A-Za-z0-9._-]{1,64}
bool is_request_id(std::string_view text);
/// The caller's span from `traceparent`; nullopt if the header is missing, malformed or duplicated.
std::optional<TraceContext> caller_trace(const Headers& headers);
/// True for a name that is a token, and for a value without control characters other than tab.
bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

/// How the bytes after a head are framed.
enum class Framing { kLength, kChunked, kUntilClose, kNone };

struct HeadOptions {
  Framing framing = Framing::kLength;
  std::uint64_t content_length = 0;
  bool keep_alive = true;
};

/// Status line and headers including the blank line, with date, connection and framing added. Drops fields with malformed names and control
/// characters in values; replaces the caller's framing fields.
std::string render_response_head(int status, const Headers& headers, const HeadOptions& options);

/// One chunk of a chunked body. REQUIRES: bytes is not empty (an empty chunk ends the body: kLastChunk).
std::string render_chunk(std::string_view bytes);
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::int64_t unix_seconds);

}  // namespace footnote::http
