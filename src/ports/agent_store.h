#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/agent.h"

namespace footnote {

/// Agents, their versions and their curated answers. Thread-safe; writes are durable when they return. Objects of other workspaces return
/// kNotFound, exactly like objects that never existed. Names, settings and answers are validated as in domain/agent.h (kInvalidArgument).
/// kNotFound with the field "corpora": the workspace has no such corpus. kResourceExhausted: beyond kAgentsMax or kCuratedAnswersMax.
class AgentStore {
 public:
  virtual ~AgentStore() = default;
  /// Ordered by name.
  virtual Result<std::vector<Agent>> agents(const CallContext& call, WorkspaceId workspace) const = 0;
  virtual Result<Agent> agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) const = 0;
  /// kAlreadyExists: the workspace already has an agent with that name.
  virtual Result<Agent> add_agent(const CallContext& call, WorkspaceId workspace, std::string_view name, const AgentSettings& draft) = 0;
  virtual Result<Agent> save_draft(const CallContext& call, WorkspaceId workspace, const AgentId& id, std::string_view name,
                                   const AgentSettings& draft) = 0;
  /// Also removes its versions and curated answers. Its turns are kept until their retention ends; see `removed_agents`.
  virtual Result<void> remove_agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) = 0;
  /// Removed agents whose turns have a retention limit: that of the last published version, else of the draft.
  virtual Result<std::vector<RemovedAgent>> removed_agents(const CallContext& call, WorkspaceId workspace) const = 0;
  /// Call when no turns are left. Succeeds if there is no such entry.
  virtual Result<void> forget_removed(const CallContext& call, WorkspaceId workspace, const AgentId& id) = 0;

  /// Publishes the draft as the next version.
  virtual Result<PublishedAgent> publish(const CallContext& call, WorkspaceId workspace, const AgentId& id) = 0;
  /// Sets the draft to the settings of `version` and publishes them as the next version.
  virtual Result<PublishedAgent> roll_back(const CallContext& call, WorkspaceId workspace, const AgentId& id, int version) = 0;
  /// Newest first.
  virtual Result<std::vector<PublishedAgent>> versions(const CallContext& call, WorkspaceId workspace, const AgentId& id) const = 0;
  /// The newest version, looked up by public id alone: visitors know no workspace. kNotFound: no such agent, or never published.
  virtual Result<PublishedAgent> published(const CallContext& call, const AgentId& id) const = 0;

  /// Ordered by id; includes disabled ones.
  virtual Result<std::vector<CuratedAnswer>> curated(const CallContext& call, const AgentId& agent) const = 0;
  /// Changes exactly when the agent's curated answers change: use it to validate prepared (cached) answers.
  virtual Result<std::int64_t> curated_revision(const CallContext& call, const AgentId& agent) const = 0;
  /// Adds answers without an id, replaces the others; all or none. kNotFound: no such agent, or it has no such answer.
  virtual Result<std::vector<CuratedAnswer>> save_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                          std::span<const CuratedAnswer> answers) = 0;
  virtual Result<void> remove_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent, CuratedId id) = 0;
};

}  // namespace footnote
