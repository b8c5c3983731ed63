#pragma once

#include <vector>

#include "api/routes.h"

namespace footnote::api {

/// `/` and its assets, under a content security policy that blocks everything external; /api/examples.
std::vector<Route> make_page_routes(const Services& services);

}  // namespace footnote::api
