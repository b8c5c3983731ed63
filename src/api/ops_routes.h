#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// /livez, /readyz, /metrics.
std::vector<Route> make_ops_routes(const Services& services);

/// /openapi.json, which describes `routes` and itself.
Route make_openapi_route(const std::vector<Route>& routes, const std::string& version);

}  // namespace footnote::api
