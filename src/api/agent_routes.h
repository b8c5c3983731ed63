#pragma once

#include "api/agent_services.h"

namespace footnote::api {

/// /api/admin/agents: drafts, publishing, versions.
std::vector<Route> make_agent_routes(const AgentServices& services);

}  // namespace footnote::api
