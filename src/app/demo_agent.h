#pragma once

#include "app/ingest_parts.h"

namespace footnote::app {

/// The corpus that `make run` ingests the shop's pages into. The name is unlikely to clash: the agent answers everybody from this corpus.
inline constexpr std::string_view kDemoCorpus = "demo-shop";

/// The published agent of the demonstration shop in the home workspace. Created if missing; an existing one is not changed.
Result<AgentId> ensure_demo_agent(const CallContext& call, IngestParts& parts);

}  // namespace footnote::app
