#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

// The text of HTTP/1.1 messages, for the server's and the client's sources. No I/O.
namespace footnote::http {

inline constexpr std::size_t kRequestIdBytesMax = 64;

/// Path and query of a request target in origin form ("/a?b") or absolute form ("http://host/a?b"), still encoded.
/// Views into `target`. kInvalidArgument for every other form.
struct Target {
  std::string_view authority;  ///< Of the absolute form, not yet checked; else empty.
  std::string_view path;
  std::string_view query;
};
Result<Target> parse_target(std::string_view target);

/// [A-Za-z0-9._-]{1,64}
bool is_request_id(std::string_view text);
/// The caller's span by `traceparent`; nullopt when the header is missing, malformed or there twice.
std::optional<TraceContext> caller_trace(const Headers& headers);
/// True for a header name that is a token, and a value without control characters other than tab.
bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

/// How the bytes after a head are framed.
enum class Framing { kLength, kChunked, kUntilClose, kNone };

struct HeadOptions {
  Framing framing = Framing::kLength;
  std::uint64_t content_length = 0;
  bool keep_alive = true;
};

/// Status line and headers up to the blank line, with date, connection and framing added. Fields with a malformed
/// name are dropped, control characters in values too; framing fields of the caller are replaced.
std::string render_response_head(int status, const Headers& headers, const HeadOptions& options);

/// One chunk of a chunked body. REQUIRES: bytes is not empty (an empty chunk ends the body: kLastChunk).
std::string render_chunk(std::string_view bytes);
void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::int64_t unix_seconds);

}  // namespace footnote::http
