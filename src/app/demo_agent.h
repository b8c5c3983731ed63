#pragma once

#include "app/compose.h"

namespace footnote::app {

/// The agent of the demonstration shop, published, in the home workspace: made when it is not there, else left as its owner made it.
Result<AgentId> ensure_demo_agent(const CallContext& call, Composition& parts);

}  // namespace footnote::app
