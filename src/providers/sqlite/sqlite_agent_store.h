#pragma once

#include "ports/agent_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/agent_store.h (AgentStore) over the embedded database.
class SqliteAgentStore final : public AgentStore {
 public:
  explicit SqliteAgentStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Agent>> agents(const CallContext& call, WorkspaceId workspace) const override;
  Result<Agent> agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) const override;
  Result<Agent> add_agent(const CallContext& call, WorkspaceId workspace, std::string_view name, const AgentSettings& draft) override;
  Result<Agent> save_draft(const CallContext& call, WorkspaceId workspace, const AgentId& id, std::string_view name,
                           const AgentSettings& draft) override;
  Result<void> remove_agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) override;
  Result<std::vector<RemovedAgent>> removed_agents(const CallContext& call, WorkspaceId workspace) const override;
  Result<void> forget_removed(const CallContext& call, WorkspaceId workspace, const AgentId& id) override;
  Result<PublishedAgent> publish(const CallContext& call, WorkspaceId workspace, const AgentId& id) override;
  Result<PublishedAgent> roll_back(const CallContext& call, WorkspaceId workspace, const AgentId& id, int version) override;
  Result<std::vector<PublishedAgent>> versions(const CallContext& call, WorkspaceId workspace, const AgentId& id) const override;
  Result<PublishedAgent> published(const CallContext& call, const AgentId& id) const override;
  Result<std::vector<CuratedAnswer>> curated(const CallContext& call, const AgentId& agent) const override;
  Result<std::int64_t> curated_revision(const CallContext& call, const AgentId& agent) const override;
  Result<std::vector<CuratedAnswer>> save_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                  std::span<const CuratedAnswer> answers) override;
  Result<void> remove_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent, CuratedId id) override;

 private:
  SqliteStore& store_;
};

}  // namespace footnote
