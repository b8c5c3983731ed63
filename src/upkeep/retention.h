#pragma once

#include "ports/agent_store.h"
#include "ports/catalog_store.h"
#include "ports/conversation_store.h"

namespace footnote::upkeep {

/// Turns of one agent that are erased at a time: others write in between.
inline constexpr std::size_t kErasedAtOnceMax = 500;

/// Erases visitors' turns that are older than their agent keeps them: as visitors met it last, else as its draft says; of agents that were
/// removed too. Returns how many.
Result<std::size_t> erase_expired_turns(const CallContext& call, const CatalogStore& catalog, AgentStore& agents,
                                        ConversationStore& conversations, UtcTime now);

}  // namespace footnote::upkeep
