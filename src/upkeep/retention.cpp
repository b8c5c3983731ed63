#include "upkeep/retention.h"

namespace footnote::upkeep {

namespace {

Result<int> retention_days(const CallContext& call, const AgentStore& agents, const Agent& agent) {
  if (agent.published_version == 0) return agent.draft.retention_days;
  FOOTNOTE_TRY(const PublishedAgent published, agents.published(call, agent.id));
  return published.settings.retention_days;
}

Result<std::size_t> erase_turns_of(const CallContext& call, ConversationStore& conversations, WorkspaceId workspace, const AgentId& agent,
                                   UtcTime before) {
  std::size_t erased = 0;
  for (std::size_t step = kErasedAtOnceMax; step == kErasedAtOnceMax; erased += step) {
    FOOTNOTE_TRY(step, conversations.erase_turns(call, workspace, agent, before, kErasedAtOnceMax));
  }
  return erased;
}

/// Forgets a removed agent one day after its last turn expired: a turn may have been in progress when the agent was removed.
Result<std::size_t> erase_of_removed(const CallContext& call, AgentStore& agents, ConversationStore& conversations, WorkspaceId workspace,
                                     UtcTime now) {
  FOOTNOTE_TRY(const auto removed, agents.removed_agents(call, workspace));
  std::size_t erased = 0;
  for (const RemovedAgent& agent : removed) {
    const UtcTime before = now - std::chrono::days{agent.retention_days};
    FOOTNOTE_TRY(const std::size_t gone, erase_turns_of(call, conversations, workspace, agent.id, before));
    erased += gone;
    if (agent.removed_at + std::chrono::days{1} < before) FOOTNOTE_CHECK(agents.forget_removed(call, workspace, agent.id));
  }
  return erased;
}

}  // namespace

Result<std::size_t> erase_expired_turns(const CallContext& call, const CatalogStore& catalog, AgentStore& agents,
                                        ConversationStore& conversations, UtcTime now) {
  FOOTNOTE_TRY(const auto workspaces, catalog.workspaces(call));
  std::size_t erased = 0;
  for (const Workspace& workspace : workspaces) {
    FOOTNOTE_TRY(const auto all, agents.agents(call, workspace.id));
    for (const Agent& agent : all) {
      FOOTNOTE_TRY(const int days, retention_days(call, agents, agent));
      if (days == 0) continue;
      FOOTNOTE_TRY(const std::size_t gone, erase_turns_of(call, conversations, workspace.id, agent.id, now - std::chrono::days{days}));
      erased += gone;
    }
    FOOTNOTE_TRY(const std::size_t gone, erase_of_removed(call, agents, conversations, workspace.id, now));
    erased += gone;
  }
  return erased;
}

Result<std::size_t> erase_old_chats(const CallContext& call, ChatStore& chats, UtcTime now, int days) {
  if (days == 0) return 0;
  std::size_t erased = 0;
  for (std::size_t step = kErasedAtOnceMax; step == kErasedAtOnceMax; erased += step) {
    FOOTNOTE_TRY(step, chats.erase_chats(call, now - std::chrono::days{days}, kErasedAtOnceMax));
  }
  return erased;
}

}  // namespace footnote::upkeep
