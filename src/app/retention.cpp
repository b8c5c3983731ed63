#include "app/retention.h"

namespace footnote::app {

namespace {

Result<int> retention_days(const CallContext& call, const AgentStore& agents, const Agent& agent) {
  if (agent.published_version == 0) return agent.draft.retention_days;
  FOOTNOTE_TRY(const PublishedAgent published, agents.published(call, agent.id));
  return published.settings.retention_days;
}

}  // namespace

Result<std::size_t> erase_expired_turns(const CallContext& call, const CatalogStore& catalog, const AgentStore& agents,
                                        ConversationStore& conversations, UtcTime now) {
  FOOTNOTE_TRY(const auto workspaces, catalog.workspaces(call));
  std::size_t erased = 0;
  for (const Workspace& workspace : workspaces) {
    FOOTNOTE_TRY(const auto all, agents.agents(call, workspace.id));
    for (const Agent& agent : all) {
      FOOTNOTE_TRY(const int days, retention_days(call, agents, agent));
      if (days == 0) continue;
      const UtcTime before = now - std::chrono::days{days};
      for (std::size_t step = kErasedAtOnceMax; step == kErasedAtOnceMax; erased += step) {
        FOOTNOTE_TRY(step, conversations.erase_turns(call, workspace.id, agent.id, before, kErasedAtOnceMax));
      }
    }
  }
  return erased;
}

}  // namespace footnote::app
