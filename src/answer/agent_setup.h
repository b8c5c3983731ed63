#pragma once

#include "ports/agent_store.h"
#include "ports/catalog_store.h"

namespace footnote::answer {

/// Creates an agent. If its settings name no corpora, a corpus with the agent's name is created for it in `space`. kAlreadyExists: an agent
/// of that name exists, or a corpus of that name that the settings do not list.
Result<Agent> make_agent(const CallContext& call, AgentStore& agents, CatalogStore& catalog, const EmbeddingSpace& space,
                         WorkspaceId workspace, std::string_view name, AgentSettings settings);

}  // namespace footnote::answer
