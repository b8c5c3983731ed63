#include "http/host.h"

#include <arpa/inet.h>

#include <optional>
#include <string>

#include "base/text.h"

namespace footnote::http {
namespace {

std::string without_brackets(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) host = host.substr(1, host.size() - 2);
  return to_lower_ascii(host);
}

std::optional<in_addr> as_v4(const std::string& host) {
  in_addr out{};
  return ::inet_pton(AF_INET, host.c_str(), &out) == 1 ? std::optional(out) : std::nullopt;
}

std::optional<in6_addr> as_v6(const std::string& host) {
  in6_addr out{};
  return ::inet_pton(AF_INET6, host.c_str(), &out) == 1 ? std::optional(out) : std::nullopt;
}

}  // namespace

std::string_view host_name_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    return close == std::string_view::npos ? std::string_view{} : authority.substr(1, close - 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_loopback_host(std::string_view host) {
  const std::string name = without_brackets(host);
  if (name == "localhost") return true;
  if (const auto v4 = as_v4(name)) return (ntohl(v4->s_addr) >> 24) == 127;
  const auto v6 = as_v6(name);
  return v6 && IN6_IS_ADDR_LOOPBACK(&*v6);
}

bool is_ip_address(std::string_view host) {
  const std::string name = without_brackets(host);
  return as_v4(name) || as_v6(name);
}

}  // namespace footnote::http
