#include "base/page_url.h"

#include <algorithm>

#include "base/text.h"

namespace footnote {

namespace {

/// Tracking parameters of advertisers and mailers; they do not change the page.
constexpr std::string_view kClickIds[] = {"_ga",       "_gl",    "dclid",  "fbclid",  "gad_source", "gbraid", "gclid",  "gclsrc", "igshid",
                                          "li_fat_id", "mc_cid", "mc_eid", "msclkid", "srsltid",    "ttclid", "twclid", "wbraid", "yclid"};

bool follows_a_visitor(std::string_view parameter) {
  const std::string name = to_lower_ascii(parameter.substr(0, parameter.find('=')));
  return name.starts_with("utm_") || std::ranges::find(kClickIds, name) != std::end(kClickIds);
}

std::string kept_parameters(std::string_view query) {
  std::string out;
  for (const std::string_view parameter : split(query, '&')) {
    if (parameter.empty() || follows_a_visitor(parameter)) continue;
    out += out.empty() ? '?' : '&';
    out += parameter;
  }
  return out;
}

bool is_page_character(char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F && c != '\\'; }

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Percent-encodes a path or query as a browser does: non-ASCII bytes, quotes and brackets as upper-case %XX.
std::string encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kEncoded = "\"<>`{}|^";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_code = text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2]);
    if (is_code) {
      out += '%';
      for (const char digit : text.substr(i + 1, 2)) out += digit >= 'a' ? static_cast<char>(digit - 'a' + 'A') : digit;
      i += 2;
    } else if (byte >= 0x80 || kEncoded.find(text[i]) != std::string_view::npos) {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += text[i];
    }
  }
  return out;
}

/// "host", "host:port" or "[v6]:port", in lower case, without a default port; empty when invalid.
std::string canonical_authority(std::string_view text, std::string_view default_port) {
  const std::size_t host_end = text.starts_with('[') ? text.find(']') + 1 : std::min(text.find(':'), text.size());
  const std::string_view port = text.substr(std::min(host_end, text.size()));
  const bool digits = std::ranges::all_of(port.substr(port.empty() ? 0 : 1), [](char c) { return c >= '0' && c <= '9'; });
  if (host_end == 0 || text.find('@') != std::string_view::npos || !digits || (!port.empty() && port.front() != ':')) return {};
  return to_lower_ascii(port == default_port || port == ":" ? text.substr(0, host_end) : text);
}

}  // namespace

std::optional<std::string> canonical_url(std::string_view url) {
  url = trim(url);
  const bool secure = starts_with_ignoring_case(url, "https://");
  if (!secure && !starts_with_ignoring_case(url, "http://")) return std::nullopt;
  if (url.size() > kPageUrlBytesMax || !std::ranges::all_of(url, is_page_character)) return std::nullopt;
  url.remove_prefix(url.find("//") + 2);
  url = url.substr(0, url.find('#'));
  const std::size_t host_end = std::min(url.find_first_of("/?"), url.size());
  const std::string host = canonical_authority(url.substr(0, host_end), secure ? ":443" : ":80");
  if (host.empty()) return std::nullopt;
  url.remove_prefix(host_end);
  const std::size_t path_end = std::min(url.find('?'), url.size());
  std::string_view path = url.substr(0, path_end);
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string query = kept_parameters(url.substr(std::min(path_end + 1, url.size())));
  std::string out = (secure ? "https://" : "http://") + host + encoded(path) + encoded(query);
  if (out.size() > kPageUrlBytesMax) return std::nullopt;  // encoding makes it longer
  return out;
}

std::string_view origin_of(std::string_view page) {
  const std::size_t scheme = page.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : page.substr(0, page.find_first_of("/?", scheme + 3));
}

bool is_page_under(std::string_view page, std::string_view prefix) {
  if (!page.starts_with(prefix)) return false;
  const std::string_view rest = page.substr(prefix.size());
  return rest.empty() || rest.front() == '/' || rest.front() == '?' || (rest.front() == '&' && prefix.find('?') != std::string_view::npos);
}

}  // namespace footnote
