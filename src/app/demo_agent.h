#pragma once

#include "app/ingest_parts.h"

namespace footnote::app {

/// What `make run` reads the shop's pages into. Nobody else's corpus has this name by chance: the agent answers everybody from it.
inline constexpr std::string_view kDemoCorpus = "demo-shop";

/// The agent of the demonstration shop, published, in the home workspace: made when it is not there, else left as its owner made it.
Result<AgentId> ensure_demo_agent(const CallContext& call, IngestParts& parts);

}  // namespace footnote::app
