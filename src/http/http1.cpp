#include "http/http1.h"

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/text.h"

namespace footnote::http {

namespace {

bool is_token_character(char c) {
  return is_ascii_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

bool is_framing_field(std::string_view name) {
  const std::string lower = to_lower_ascii(name);
  return lower == "content-length" || lower == "transfer-encoding" || lower == "connection" || lower == "date";
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  std::ranges::copy_if(value, std::back_inserter(out), [](char c) { return !is_control(c); });
  out += "\r\n";
}

/// The date, cached for one second: formatting it costs more than the rest of a head.
const std::string& current_date() {
  thread_local std::int64_t second = 0;
  thread_local std::string text;
  if (const std::int64_t now = std::time(nullptr); now != second || text.empty()) {
    second = now;
    text = http_date(now);
  }
  return text;
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
  std::string_view authority;
  if (!target.starts_with('/')) {
    if (!starts_with_ignoring_case(target, "http://") && !starts_with_ignoring_case(target, "https://")) {
      return fail(ErrorCode::kInvalidArgument, "the request target is neither a path nor an absolute URL");
    }
    target.remove_prefix(target.find("//") + 2);
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    authority = target.substr(0, end);
    if (authority.empty()) return fail(ErrorCode::kInvalidArgument, "the request target names no host");
    target = end == target.size() ? "/" : target.substr(end);
    if (!target.starts_with('/')) return fail(ErrorCode::kInvalidArgument, "the request target has no path");
  }
  if (const std::size_t hash = target.find('#'); hash != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument, "the request target holds a '#'");
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  return Target{authority, target.substr(0, mark), target.substr(std::min(mark + 1, target.size()))};
}

bool is_request_id(std::string_view text) {
  if (text.empty() || text.size() > kRequestIdBytesMax) return false;
  return std::ranges::all_of(text, [](char c) { return is_ascii_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

std::optional<TraceContext> caller_trace(const Headers& headers) {
  constexpr std::string_view kName = "traceparent";
  std::optional<std::string_view> found;
  for (const auto& [name, value] : headers) {
    if (name.size() != kName.size() || !starts_with_ignoring_case(name, kName)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found ? parse_traceparent(*found) : std::nullopt;
}

bool is_header_name(std::string_view name) { return !name.empty() && std::ranges::all_of(name, is_token_character); }

bool is_header_value(std::string_view value) { return std::ranges::none_of(value, is_control); }

std::string render_response_head(int status, const Headers& headers, const HeadOptions& options) {
  std::string out;
  out.reserve(256);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  for (const auto& [name, value] : headers) {
    if (is_header_name(name) && !is_framing_field(name)) append_field(out, name, value);
  }
  append_field(out, "date", current_date());
  append_field(out, "connection", options.keep_alive ? "keep-alive" : "close");
  switch (options.framing) {
    case Framing::kLength: fmt::format_to(std::back_inserter(out), "content-length: {}\r\n", options.content_length); break;
    case Framing::kChunked: out += "transfer-encoding: chunked\r\n"; break;
    case Framing::kUntilClose: break;
    case Framing::kNone: break;
  }
  out += "\r\n";
  return out;
}

std::string render_chunk(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + 16);
  append_chunk(out, bytes);
  return out;
}

void append_chunk(std::string& out, std::string_view bytes) {
  char size[16];
  const auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
  out.append(size, end);
  out += "\r\n";
  out += bytes;
  out += "\r\n";
}

std::string http_date(std::int64_t unix_seconds) {
  static constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = unix_seconds;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday, kMonths[utc.tm_mon], utc.tm_year + 1900,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace footnote::http
