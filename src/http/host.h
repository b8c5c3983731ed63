#pragma once

#include <string_view>

namespace footnote::http {

/// "localhost:7700" -> "localhost", "[::1]:7700" -> "::1". Empty if a bracket is not closed.
std::string_view host_name_of(std::string_view authority);

/// True for "localhost", 127.0.0.0/8 and ::1 (with or without brackets).
bool is_loopback_host(std::string_view host);

/// True for an IPv4 or IPv6 address (with or without brackets), false for any name.
bool is_ip_address(std::string_view host);

}  // namespace footnote::http
