#pragma once

#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "fakes/faults.h"
#include "ports/agent_store.h"
#include "ports/catalog_store.h"

namespace footnote::fakes {

/// Agents in memory. Fulfils its port's contract except durability. Thread-safe. Borrows both.
class MemoryAgentStore final : public AgentStore {
 public:
  MemoryAgentStore(const CatalogStore& catalog, const Clock& clock) : catalog_(catalog), clock_(clock) {}

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

  // For tests.
  Faults& curated_faults() const { return curated_faults_; }

 private:
  struct Stored {
    Agent agent;
    std::vector<PublishedAgent> versions;  ///< Oldest first.
    std::vector<CuratedAnswer> curated;    ///< By id.
    std::int64_t curated_revision = 0;
  };

  Result<const Stored*> stored(WorkspaceId workspace, const AgentId& id) const FOOTNOTE_TSA(requires_capability(mutex_));
  Result<Stored*> stored(WorkspaceId workspace, const AgentId& id) FOOTNOTE_TSA(requires_capability(mutex_));
  Result<void> check(const CallContext& call, WorkspaceId workspace, std::string_view name, const AgentSettings& draft,
                     const AgentId& but) const FOOTNOTE_TSA(requires_capability(mutex_));
  PublishedAgent publish_settings(Stored& stored, const AgentSettings& settings) FOOTNOTE_TSA(requires_capability(mutex_));

  const CatalogStore& catalog_;
  const Clock& clock_;
  mutable Faults curated_faults_;

  mutable Mutex mutex_;
  std::map<AgentId, Stored> agents_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::pair<WorkspaceId, AgentId>, RemovedAgent> removed_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::int64_t last_id_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
