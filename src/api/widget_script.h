#pragma once

#include <vector>

#include "api/route.h"
#include "domain/ids.h"

namespace footnote::api {

/// `/widget.js`, which pages of any site may load: access is checked when it calls the API.
std::vector<Route> make_widget_script_routes();

/// `/demo/shop/`: a shop's pages with the widget of `agent`, under a strict content security policy. `index.html` is the folder itself.
std::vector<Route> make_demo_shop_routes(const AgentId& agent);

}  // namespace footnote::api
