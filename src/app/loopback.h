#pragma once

#include <optional>
#include <string_view>

#include "http/message.h"

namespace footnote::app {

/// True for "localhost", 127.0.0.0/8 and ::1 (with or without brackets): addresses that only this machine reaches.
bool is_loopback_host(std::string_view host);

/// Keeps web pages out of a server that has no keys. A page in the user's browser can reach loopback: under a name of
/// its own that resolves here (then the Host header gives it away), or by a cross-site request (then Origin does).
/// An answer refuses the request; nullopt lets it pass.
std::optional<http::Response> refuse_foreign_origin(const http::Request& request);

}  // namespace footnote::app
