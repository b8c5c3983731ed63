#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// /livez, /readyz, /metrics.
std::vector<http::Route> make_ops_routes(const Services& services);

/// /openapi.json over `routes` and itself.
http::Route make_openapi_route(const std::vector<http::Route>& routes, const std::string& version);

}  // namespace footnote::api
