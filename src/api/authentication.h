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

/// The session cookie of this request's host: cookies ignore ports, so the port is in the name, and two servers on a machine do not sign
/// each other's users out.
std::string session_cookie_name(const http::Request& request);
/// The value of the session cookie if the request has one and may use it (`is_from_own_page`), else empty.
std::string_view session_text_of(const http::Request& request);

/// Who is calling: by key, else by session, else, while no keys exist, the owner. kUnauthenticated: nobody that we know.
Result<access::Admission> identify(const AuthServices& auth, const http::Request& request);

/// Wraps a route for the server: callers are admitted or refused before the body is read (401 without a valid key, 403 without the scope,
/// 429 over the rate limit), and the handler gets the caller. A key is sent as `authorization: Bearer ...` or, without that, as `api-key:
/// ...`, never in the URL; pages of this server may send a session cookie instead.
http::Route guarded(const AuthServices& auth, Route route);

/// Adds RateLimit-Policy and RateLimit if the caller has rate limits.
void add_rate_headers(const http::Request& request, http::Headers& headers);

}  // namespace footnote::api
