#pragma once

#include "ports/agent_store.h"
#include "ports/catalog_store.h"
#include "ports/chat_store.h"
#include "ports/conversation_store.h"

namespace footnote::upkeep {

/// Turns of one agent erased per transaction, so that other writers get their turn.
inline constexpr std::size_t kErasedAtOnceMax = 500;

/// Erases visitors' turns that are past their agent's retention period (of the published settings, else of the draft), including turns of
/// removed agents. Returns their number.
Result<std::size_t> erase_expired_turns(const CallContext& call, const CatalogStore& catalog, AgentStore& agents,
                                        ConversationStore& conversations, UtcTime now);

/// Erases users' chats without a message in the last `days`; 0: none. Returns their number.
Result<std::size_t> erase_old_chats(const CallContext& call, ChatStore& chats, UtcTime now, int days);

}  // namespace footnote::upkeep
