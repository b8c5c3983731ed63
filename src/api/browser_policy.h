#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace footnote::api {

/// Keeps web pages from abusing a visitor's browser. A page can reach this server through its own name that resolves here (DNS rebinding:
/// caught by the Host header), by a cross-site request (caught by Origin or Sec-Fetch-Site), or by a plain form (which can't send JSON or
/// custom headers). Thread-safe.
class BrowserPolicy {
 public:
  struct Options {
    std::vector<std::string> hosts;    ///< Host names that are allowed besides loopback: "docs.example.com".
    std::vector<std::string> origins;  ///< Pages of other sites that may call: "https://www.example.com".
    /// True: IP addresses are allowed as Host. For servers that listen beyond loopback; an attacker's page can only use a name.
    bool address_hosts = false;
    /// Paths with this prefix are open to every origin: their handlers authenticate callers and ignore ambient credentials. Empty: none.
    std::string open_prefix = {};
    /// Paths that pages of other sites may load as a script or an image.
    std::vector<std::string> embeddable = {};
  };
  BrowserPolicy() = default;
  explicit BrowserPolicy(Options options) : options_(std::move(options)) {}

  /// Called for every request before routing, so that unknown paths answer the same way. Returns the response if the request is refused:
  /// 403 for a foreign Host or Origin and for resources loaded by another site's page (followed links pass), 415 for a change that a form
  /// could have sent.
  std::optional<http::Response> refuse(const http::Request& request) const;

  /// Keeps API answers from being cached, sniffed or embedded: `nosniff` on all; on JSON and streams also `no-store` unless the route sets
  /// its own, and a Cross-Origin-Resource-Policy except on open paths and for allowed origins.
  void add_safety_headers(const http::Request& request, http::Headers& headers) const;

  /// Adds CORS headers for a page of an allowed origin; on a preflight also what may be sent.
  void add_cors_headers(const http::Request& request, http::Headers& headers) const;

 private:
  bool is_own_host(std::string_view name) const;
  bool is_allowed_origin(std::string_view origin) const;
  bool is_loaded_by_foreign_page(const http::Request& request) const;
  bool is_open(const http::Request& request) const {
    return !options_.open_prefix.empty() && request.path.starts_with(options_.open_prefix);
  }

  Options options_;
};

/// Whether the request was made by a page of this very server (scheme and port included), or by typing its address. Only such requests may
/// use a session cookie: browsers also send it for pages on other ports of this host. Changes must name their origin.
bool is_from_own_page(const http::Request& request);

/// "docs.example.com, wiki.example.com" -> names in lower case. kInvalidArgument: a name has a scheme, port or path.
Result<std::vector<std::string>> parse_allowed_hosts(std::string_view text);
/// "https://www.example.com, http://10.0.0.5:8080". kInvalidArgument: no scheme, or a path.
Result<std::vector<std::string>> parse_allowed_origins(std::string_view text);

}  // namespace footnote::api
