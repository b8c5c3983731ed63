#pragma once

#include "api/agent_services.h"

namespace footnote::api {

/// /api/admin/gaps, /api/admin/usage and /api/admin/visitors: stored data about an agent's visitors.
std::vector<Route> make_visitor_admin_routes(const AgentServices& services);

}  // namespace footnote::api
