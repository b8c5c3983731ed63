#pragma once

#include "api/agent_services.h"

namespace footnote::api {

/// /api/admin/webhooks: endpoints, and undeliverable messages.
std::vector<Route> make_webhook_routes(const AgentServices& services);

}  // namespace footnote::api
