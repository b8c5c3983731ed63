#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace footnote::api {

/// Keeps web pages from using a visitor's browser as their hand. A page can reach this server under a name of its own that
/// resolves here (then the Host header gives it away), by a cross-site request (then Origin or Sec-Fetch-Site does), or by a plain form
/// (which can't send JSON or headers of its own). Thread-safe.
class BrowserPolicy {
 public:
  struct Options {
    std::vector<std::string> hosts;    ///< Names beside the loopback ones: "docs.example.com".
    std::vector<std::string> origins;  ///< Pages of other sites that may call: "https://www.example.com".
    /// Addresses pass as hosts, for a server that listens beyond loopback: no page can make its name an address.
    bool address_hosts = false;
    /// Paths that begin so are for pages of every origin: what lies there looks itself at who asks, and takes no ambient credentials.
    /// Empty: none.
    std::string open_prefix = {};
    /// Paths that pages of other sites may load as a script or an image.
    std::vector<std::string> embeddable = {};
  };
  BrowserPolicy() = default;
  explicit BrowserPolicy(Options options) : options_(std::move(options)) {}

  /// Every request goes through this before it is routed, so that unknown paths answer alike. An answer refuses it: 403 for a
  /// foreign Host or Origin and for what another site's page loads (links that a person follows pass), 415 for a change that a form could
  /// have sent.
  std::optional<http::Response> refuse(const http::Request& request) const;

  /// What keeps an answer of the API from being kept, guessed at or embedded: `nosniff` on all; on JSON and on streams `no-store` unless
  /// the route says otherwise, and a Cross-Origin-Resource-Policy, which open paths and allowed origins do without.
  void add_safety_headers(const http::Request& request, http::Headers& headers) const;

  /// What a browser needs to know of an answer to a page of an allowed origin; for a preflight also what may be sent.
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

/// "docs.example.com, wiki.example.com" -> names in lower case. kInvalidArgument: a scheme, port or path in one.
Result<std::vector<std::string>> parse_allowed_hosts(std::string_view text);
/// "https://www.example.com, http://10.0.0.5:8080". kInvalidArgument: no scheme, or a path.
Result<std::vector<std::string>> parse_allowed_origins(std::string_view text);

}  // namespace footnote::api
