#include "http/request_rules.h"

#include <string>

#include "base/text.h"
#include "http/url.h"

namespace footnote::http {

namespace {

/// A duplicate of these is a sign of an attack: we would use the first, another reader the last.
constexpr std::string_view kSingleFields[] = {"host", "origin", "content-type", "content-length", "transfer-encoding", "authorization"};

/// Without a final "chunked" the end of the body is undefined. A coding before it is valid but not supported.
std::optional<Refusal> check_transfer_coding(std::string_view value, bool http_1_0) {
  if (http_1_0) return malformed("HTTP/1.0 has no transfer codings");
  const std::string codings = to_lower_ascii(trim(value));
  if (codings == "chunked") return std::nullopt;
  const std::string_view last = trim(std::string_view(codings).substr(codings.rfind(',') + 1));
  const bool repeated = codings.find("chunked") != codings.rfind("chunked");
  if (last != "chunked" || repeated) return malformed("the last transfer coding, and no other, must be chunked");
  return refuse(501, ErrorCode::kUnsupported, "the only supported transfer coding is chunked");
}

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

bool has_folded_line(std::string_view head) {
  for (std::size_t end = head.find('\n'); end != std::string_view::npos; end = head.find('\n', end + 1)) {
    if (end + 1 < head.size() && (head[end + 1] == ' ' || head[end + 1] == '\t')) return true;
  }
  return false;
}

std::optional<Refusal> check_head(const Headers& headers, bool http_1_0) {
  for (const std::string_view name : kSingleFields) {
    if (headers.count(name) > 1) return malformed(fmt::format("duplicate field {}", name));
  }
  const std::string_view host = headers.find("host").value_or("");
  if (host.empty() && !http_1_0) return malformed("a Host field is needed");
  if (!host.empty() && !is_authority(host)) return malformed("the Host field is not a host and port");
  // The parser also accepts a list of equal lengths.
  if (const auto length = headers.find("content-length"); length && !is_number(*length)) return malformed("bad Content-Length");
  if (const auto coding = headers.find("transfer-encoding")) {
    if (auto refusal = check_transfer_coding(*coding, http_1_0)) return refusal;
  }
  if (const auto expect = headers.find("expect"); expect && to_lower_ascii(trim(*expect)) != "100-continue") {
    return refuse(417, ErrorCode::kUnsupported, "the only supported expectation is 100-continue");
  }
  return std::nullopt;
}

std::optional<Refusal> settle_host(std::string_view authority, Headers& headers) {
  const std::string host(headers.find("host").value_or(""));
  if (!authority.empty()) {
    if (!is_authority(authority)) return malformed("the target's authority is not a host and port");
    if (!host.empty() && to_lower_ascii(host) != to_lower_ascii(authority))
      return malformed("the target and the Host field name different hosts");
  }
  headers.set("host", authority.empty() ? host : authority);
  return std::nullopt;
}

}  // namespace footnote::http
