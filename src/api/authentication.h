#pragma once

#include <optional>
#include <string_view>

#include "access/keys.h"
#include "api/route.h"
#include "base/metrics.h"
#include "ports/catalog_store.h"

namespace footnote::api {

/// Selects the workspace, for the data folder's owner or a loopback caller without keys. Requests with a key use the key's workspace.
inline constexpr std::string_view kWorkspaceHeader = "x-footnote-workspace";

/// Dependencies for authenticating callers. Borrowed.
struct AuthServices {
  access::Keys& keys;
  const CatalogStore& catalog;
  WorkspaceId home;  ///< The workspace of callers without a key, as long as no keys exist.
  Metrics& metrics;
};

/// The token of "authorization: Bearer ..."; nullopt if there is no such header or it has another scheme.
std::optional<std::string_view> bearer_token(const http::Headers& headers);

/// Wraps a route for the server: callers are admitted or refused before the body is read (401 without a valid key, 403 without the scope,
/// 429 over the rate limit), and the handler gets the caller. A key is sent as `authorization: Bearer ...` or, without that, as `api-key:
/// ...`, never in the URL.
http::Route guarded(const AuthServices& auth, Route route);

/// Adds RateLimit-Policy and RateLimit if the caller has rate limits.
void add_rate_headers(const http::Request& request, http::Headers& headers);

}  // namespace footnote::api
