#include "engine/url/web_url.h"

#include <curl/curl.h>
#include <unicode/uidna.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"

namespace footnote {

namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct FreeText {
  void operator()(char* text) const { curl_free(text); }
};
using UrlHandle = std::unique_ptr<CURLU, FreeUrl>;

constexpr unsigned kParseFlags = CURLU_DISALLOW_USER | CURLU_ALLOW_SPACE | CURLU_URLENCODE;

/// A part of the URL, "" when it has none.
Result<std::string> part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(url, which, &text, flags);
  const std::unique_ptr<char, FreeText> owner(text);
  if (code == CURLUE_NO_QUERY) return std::string();
  if (code != CURLUE_OK) return fail(ErrorCode::kInvalidArgument, "not a web address: {}", curl_url_strerror(code));
  return std::string(text);
}

Result<void> check_text(std::string_view text) {
  if (text.size() > kWebUrlBytesMax) return fail(ErrorCode::kInvalidArgument, "the URL is longer than {} bytes", kWebUrlBytesMax);
  const auto is_refused = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\'; };
  if (std::ranges::any_of(text, is_refused)) {
    return fail(ErrorCode::kInvalidArgument, "the URL holds a backslash or a control character");
  }
  return {};
}

struct CloseNames {
  void operator()(UIDNA* names) const { uidna_close(names); }
};

/// "b\u00fccher.example" -> "xn--bcher-kva.example"; full-width digits become digits. The library itself would ask the process's locale.
Result<std::string> ascii_host(std::string_view host) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UIDNA, CloseNames> names(
      uidna_openUTS46(UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ, &status));
  std::array<char, 512> out{};
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  const int size = U_SUCCESS(status) ? uidna_nameToASCII_UTF8(names.get(), host.data(), static_cast<int32_t>(host.size()), out.data(),
                                                              static_cast<int32_t>(out.size()), &info, &status)
                                     : 0;
  if (U_FAILURE(status) || info.errors != 0 || size <= 0 || size >= static_cast<int>(out.size())) {
    return fail(ErrorCode::kInvalidArgument, "the URL has no valid host name");
  }
  return std::string(out.data(), static_cast<std::size_t>(size));
}

/// The text with its host in ASCII, without its fragment. An absolute URL has exactly two slashes before its host.
Result<std::string> prepared(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const std::size_t scheme = starts_with_ignoring_case(text, "https:") ? 6 : starts_with_ignoring_case(text, "http:") ? 5 : 0;
  const bool names_host = text.substr(scheme).starts_with("//");
  if (scheme != 0 && (!names_host || text.substr(scheme).starts_with("///"))) {
    return fail(ErrorCode::kInvalidArgument, "the URL has no valid host name");
  }
  if (!names_host) return std::string(text);
  const std::size_t begin = scheme + 2;
  const std::size_t end = std::min(text.find_first_of("/?", begin), text.size());
  const std::string_view authority = text.substr(begin, end - begin);
  if (std::ranges::all_of(authority, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return std::string(text);
  if (authority.find('@') != std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument, "a URL must not carry a user name or password");
  }
  const std::size_t colon = std::min(authority.find(':'), authority.size());
  FOOTNOTE_TRY(const std::string host, ascii_host(authority.substr(0, colon)));
  return std::string(text.substr(0, begin)) + host + std::string(authority.substr(colon)) + std::string(text.substr(end));
}

Result<void> set(CURLU* url, std::string_view text) {
  FOOTNOTE_TRY(const std::string ascii, prepared(text));
  if (ascii.empty()) return {};  // the page itself
  const CURLUcode code = curl_url_set(url, CURLUPART_URL, ascii.c_str(), kParseFlags);
  if (code == CURLUE_USER_NOT_ALLOWED) return fail(ErrorCode::kInvalidArgument, "a URL must not carry a user name or password");
  if (code != CURLUE_OK) return fail(ErrorCode::kInvalidArgument, "not a web address: {}", curl_url_strerror(code));
  return {};
}

bool is_host_character(char c) { return is_ascii_alphanumeric(c) || c == '-' || c == '.' || c == '_'; }

Result<WebUrl> take_apart(CURLU* url) {
  curl_url_set(url, CURLUPART_FRAGMENT, nullptr, 0);
  WebUrl out;
  FOOTNOTE_TRY(const std::string scheme, part(url, CURLUPART_SCHEME));
  if (scheme != "http" && scheme != "https") {
    return fail(ErrorCode::kInvalidArgument, "a web address begins with http:// or https://");
  }
  out.secure = scheme == "https";
  FOOTNOTE_TRY(std::string host, part(url, CURLUPART_HOST, CURLU_PUNYCODE));
  const bool is_v6 = host.starts_with('[') && host.ends_with(']');
  if (is_v6) host = host.substr(1, host.size() - 2);
  const auto is_good = [&](char c) { return is_v6 ? hex_digit(c) || c == ':' || c == '.' : is_host_character(c); };
  if (host.empty() || !std::ranges::all_of(host, is_good)) return fail(ErrorCode::kInvalidArgument, "the URL has no valid host name");
  out.host = to_lower_ascii(host);
  FOOTNOTE_TRY(const std::string port, part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT));
  out.port = parse_whole_number<std::uint16_t>(port).value_or(0);
  if (out.port == 0) return fail(ErrorCode::kInvalidArgument, "the URL's port is not a number from 1 to 65535");
  FOOTNOTE_TRY(out.path, part(url, CURLUPART_PATH));
  FOOTNOTE_TRY(out.query, part(url, CURLUPART_QUERY));
  out.text = out.origin() + out.path + (out.query.empty() ? "" : "?" + out.query);
  if (out.text.size() > kWebUrlBytesMax) return fail(ErrorCode::kInvalidArgument, "the URL is longer than {} bytes", kWebUrlBytesMax);
  return out;
}

}  // namespace

std::string WebUrl::origin() const {
  std::string out = secure ? "https://" : "http://";
  out += host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != (secure ? 443 : 80)) out += ":" + std::to_string(port);
  return out;
}

Result<WebUrl> parse_web_url(std::string_view text) {
  text = trim(text);
  FOOTNOTE_CHECK(check_text(text));
  const UrlHandle url(curl_url());
  if (!url) return fail(ErrorCode::kResourceExhausted, "no memory for a URL");
  FOOTNOTE_CHECK(set(url.get(), text));
  return take_apart(url.get());
}

Result<WebUrl> resolve_web_url(const WebUrl& base, std::string_view reference) {
  reference = trim(reference);
  FOOTNOTE_CHECK(check_text(reference));
  const UrlHandle url(curl_url());
  if (!url) return fail(ErrorCode::kResourceExhausted, "no memory for a URL");
  FOOTNOTE_CHECK(set(url.get(), base.text));
  FOOTNOTE_CHECK(set(url.get(), reference));
  return take_apart(url.get());
}

}  // namespace footnote
