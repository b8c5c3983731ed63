#pragma once

#include "ports/agent_store.h"
#include "ports/catalog_store.h"

namespace footnote::answer {

/// Makes an agent. One whose settings name no corpora gets one of its own, of its name, in `space`. kAlreadyExists: an agent of that name
/// is there, or a corpus that nobody said it should search.
Result<Agent> make_agent(const CallContext& call, AgentStore& agents, CatalogStore& catalog, const EmbeddingSpace& space,
                         WorkspaceId workspace, std::string_view name, AgentSettings settings);

}  // namespace footnote::answer
