#include "http/url.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::http {

namespace {

bool is_host_character(char c) { return is_ascii_alphanumeric(c) || c == '-' || c == '.' || c == '_'; }

std::uint16_t default_port(Scheme scheme) {
  switch (scheme) {
    case Scheme::kHttp: return 80;
    case Scheme::kHttps: return 443;
  }
  return 80;
}

std::string bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

Result<std::uint16_t> parse_port(std::string_view text) {
  const auto value = parse_whole_number<std::uint16_t>(text);
  if (value.value_or(0) == 0) {
    return fail(ErrorCode::kInvalidArgument, "port '{}' is not a number from 1 to 65535", text);
  }
  return *value;
}

/// "host", "host:port", "[v6]" or "[v6]:port".
Result<void> parse_authority(std::string_view text, Url& url) {
  if (text.find('@') != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument, "a URL must not carry a user name or password");
  }
  std::string_view host;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "the IPv6 address has no ']'");
    host = text.substr(1, close - 1);
    rest = text.substr(close + 1);
    in6_addr address{};
    if (inet_pton(AF_INET6, std::string(host).c_str(), &address) != 1) {
      return fail(ErrorCode::kInvalidArgument, "'{}' is not an IPv6 address", host);
    }
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    host = text.substr(0, colon);
    rest = text.substr(colon);
    if (host.empty() || !std::ranges::all_of(host, is_host_character)) {
      return fail(ErrorCode::kInvalidArgument, "'{}' is not a host name", host);
    }
  }
  url.host = to_lower_ascii(host);
  url.port = default_port(url.scheme);
  if (rest.empty()) return {};
  if (!rest.starts_with(':')) return fail(ErrorCode::kInvalidArgument, "unexpected '{}' after the host", rest);
  FOOTNOTE_TRY(url.port, parse_port(rest.substr(1)));
  return {};
}

}  // namespace

std::string Url::authority() const { return fmt::format("{}:{}", bracketed(host), port); }

std::string Url::host_header() const { return port == default_port(scheme) ? bracketed(host) : authority(); }

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kUrlBytesMax) return fail(ErrorCode::kInvalidArgument, "the URL is longer than {} bytes", kUrlBytesMax);
  const bool printable = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7F; });
  if (!printable) return fail(ErrorCode::kInvalidArgument, "the URL holds a space, a control or a non-ASCII character");
  Url url;
  if (starts_with_ignoring_case(text, "http://")) {
    url.scheme = Scheme::kHttp;
  } else if (starts_with_ignoring_case(text, "https://")) {
    url.scheme = Scheme::kHttps;
  } else {
    return fail(ErrorCode::kInvalidArgument, "the URL must start with http:// or https://");
  }
  if (text.find('#') != std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "the URL must not hold a '#'");
  std::string_view rest = text.substr(text.find("//") + 2);
  const std::size_t end = std::min(rest.find_first_of("/?\\"), rest.size());
  FOOTNOTE_CHECK(parse_authority(rest.substr(0, end), url));
  rest.remove_prefix(end);
  if (rest.find('\\') != std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "the URL must not hold a '\\'");
  url.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  return url;
}

bool is_authority(std::string_view text) {
  Url url;
  return parse_authority(text, url).has_value();
}

std::string join_url(std::string_view base, std::string_view path) {
  while (base.ends_with('/')) base.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  return fmt::format("{}/{}", base, path);
}

std::string percent_encode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_ascii_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low) return fail(ErrorCode::kInvalidArgument, "a '%' is not followed by two hexadecimal digits");
    out.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  if (out.find('\0') != std::string::npos) return fail(ErrorCode::kInvalidArgument, "the text holds a NUL character");
  if (!is_valid_utf8(out)) return fail(ErrorCode::kInvalidArgument, "the text is not UTF-8");
  return out;
}

Result<NameValues> parse_query(std::string_view query) {
  NameValues out;
  for (const std::string_view part : split(query, '&')) {
    if (part.empty()) continue;
    if (out.size() >= kQueryParametersMax) {
      return fail(ErrorCode::kTooLarge, "more than {} query parameters", kQueryParametersMax);
    }
    std::string spaced(part);
    std::ranges::replace(spaced, '+', ' ');
    const std::size_t equals = std::min(spaced.find('='), spaced.size());
    const std::string_view whole = spaced;
    FOOTNOTE_TRY(std::string name, percent_decode(whole.substr(0, equals)));
    FOOTNOTE_TRY(std::string value, percent_decode(whole.substr(std::min(equals + 1, whole.size()))));
    out.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

}  // namespace footnote::http
