#pragma once

#include <vector>

#include "api/route.h"

namespace footnote::api {

/// The chat app at /app: one page for all its addresses, under a strict content security policy, and its files, whose names contain a
/// hash of their bytes, so that browsers keep them for good.
std::vector<Route> make_app_routes();

}  // namespace footnote::api
