#include "app/loopback.h"

#include <arpa/inet.h>

#include <string>

#include "api/error_mapping.h"
#include "base/text.h"

namespace footnote::app {
namespace {

/// "localhost:7700" -> "localhost", "[::1]:7700" -> "::1"
std::string_view without_port(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    return close == std::string_view::npos ? std::string_view{} : authority.substr(1, close - 1);
  }
  return authority.substr(0, authority.find(':'));
}

std::string_view host_of_origin(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : without_port(origin.substr(scheme + 3));
}

http::Response refusal(std::string_view what, std::string_view value) {
  return api::render_error(
      {ErrorCode::kPermissionDenied,
       fmt::format("{} '{}' is not this machine: a server without API keys answers loopback callers only", what, value),
       {}});
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) host = host.substr(1, host.size() - 2);
  const std::string name = to_lower_ascii(host);
  if (name == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::optional<http::Response> refuse_foreign_origin(const http::Request& request) {
  if (const auto host = request.headers.find("host"); host && !is_loopback_host(without_port(*host))) return refusal("host", *host);
  if (const auto origin = request.headers.find("origin"); origin && !is_loopback_host(host_of_origin(*origin))) {
    return refusal("origin", *origin);
  }
  return std::nullopt;
}

}  // namespace footnote::app
