#pragma once

#include <vector>

#include "api/authentication.h"
#include "api/route.h"

namespace footnote::api {

/// /api/session: signs a browser in with an API key. The key is exchanged for a cookie that scripts cannot read and that only pages of this
/// server can use (`is_from_own_page`); it holds a signed session, never the key.
std::vector<Route> make_session_routes(const AuthServices& auth);

}  // namespace footnote::api
