#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/agent.h"

namespace footnote {

/// Agents, their versions and their curated answers. Thread-safe; writes are durable when they return. What belongs to another
/// workspace is kNotFound, in the same words as what never was. Names, settings and answers are held to domain/agent.h (kInvalidArgument);
/// kNotFound in the field "corpora": the workspace has no such corpus. kResourceExhausted: past kAgentsMax or kCuratedAnswersMax.
class AgentStore {
 public:
  virtual ~AgentStore() = default;
  /// By name.
  virtual Result<std::vector<Agent>> agents(const CallContext& call, WorkspaceId workspace) const = 0;
  virtual Result<Agent> agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) const = 0;
  /// kAlreadyExists: the workspace has one of that name.
  virtual Result<Agent> add_agent(const CallContext& call, WorkspaceId workspace, std::string_view name, const AgentSettings& draft) = 0;
  virtual Result<Agent> save_draft(const CallContext& call, WorkspaceId workspace, const AgentId& id, std::string_view name,
                                   const AgentSettings& draft) = 0;
  /// With its versions and curated answers. Turns stay until their time, which `removed_agents` knows.
  virtual Result<void> remove_agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) = 0;
  /// Those that were removed and whose turns have an end: the retention that visitors met last, else the draft's.
  virtual Result<std::vector<RemovedAgent>> removed_agents(const CallContext& call, WorkspaceId workspace) const = 0;
  /// Nothing is left of it. One that is not there is forgotten already.
  virtual Result<void> forget_removed(const CallContext& call, WorkspaceId workspace, const AgentId& id) = 0;

  /// The draft becomes the next version.
  virtual Result<PublishedAgent> publish(const CallContext& call, WorkspaceId workspace, const AgentId& id) = 0;
  /// Draft and next version take the settings of `version`.
  virtual Result<PublishedAgent> roll_back(const CallContext& call, WorkspaceId workspace, const AgentId& id, int version) = 0;
  /// Newest first.
  virtual Result<std::vector<PublishedAgent>> versions(const CallContext& call, WorkspaceId workspace, const AgentId& id) const = 0;
  /// The newest version, by the public id alone: visitors know no workspace. kNotFound: there is none, or it was never published.
  virtual Result<PublishedAgent> published(const CallContext& call, const AgentId& id) const = 0;

  /// By id; those that are switched off too.
  virtual Result<std::vector<CuratedAnswer>> curated(const CallContext& call, const AgentId& agent) const = 0;
  /// Changes with every change of an agent's curated answers, and with nothing else: whoever prepared them asks whether they still hold.
  virtual Result<std::int64_t> curated_revision(const CallContext& call, const AgentId& agent) const = 0;
  /// Adds those without an id, replaces the others: all of them or none. kNotFound: no such agent, or no such answer of it.
  virtual Result<std::vector<CuratedAnswer>> save_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                          std::span<const CuratedAnswer> answers) = 0;
  virtual Result<void> remove_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent, CuratedId id) = 0;
};

}  // namespace footnote
