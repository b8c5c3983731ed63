#pragma once

#include <vector>

#include "api/route.h"
#include "domain/ids.h"

namespace footnote::api {

/// `/widget.js`, which pages of any site may load: what it may do there is decided when it calls back.
std::vector<Route> make_widget_script_routes();

/// `/demo/shop/`: a shop's pages with the widget of `agent` on them, under a policy as strict as a careful site's. `index.html` is the
/// folder itself.
std::vector<Route> make_demo_shop_routes(const AgentId& agent);

/// Whether an Accept-Encoding names gzip and does not refuse it.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace footnote::api
