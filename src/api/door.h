#pragma once

#include "access/keys.h"
#include "api/route.h"
#include "base/metrics.h"
#include "ports/catalog_store.h"

namespace footnote::api {

/// Names the workspace of a request by whoever owns the data folder, or of a loopback caller without keys. With a key it is the key's.
inline constexpr std::string_view kWorkspaceHeader = "x-footnote-workspace";

/// What the door needs to know a caller. Borrowed.
struct Door {
  access::Keys& keys;
  const CatalogStore& catalog;
  WorkspaceId home;  ///< Of callers without a key, while there are none.
  Metrics& metrics;
};

/// The row as the server wants it: callers are let in or refused before a body is read (401 without a good key, 403 without the
/// scope, 429 past its bounds), and the handler gets the caller. A key comes as `authorization: Bearer ...` or, without that, as
/// `api-key: ...`, never in the address.
http::Route guarded(const Door& door, Route route);

/// RateLimit-Policy and RateLimit, where the request's caller has bounds.
void add_rate_headers(const http::Request& request, http::Headers& headers);

}  // namespace footnote::api
