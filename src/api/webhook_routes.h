#pragma once

#include "api/agent_services.h"

namespace footnote::api {

/// /api/admin/webhooks: endpoints, and the messages that were given up.
std::vector<Route> make_webhook_routes(const AgentServices& services);

}  // namespace footnote::api
