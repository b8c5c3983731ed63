#include "answer/agent_setup.h"

#include <algorithm>

namespace footnote::answer {

namespace {

/// Runs every check that does not need the corpus, so that a failure leaves no orphaned corpus behind.
Result<void> check_before(const CallContext& call, const AgentStore& agents, WorkspaceId workspace, std::string_view name,
                          AgentSettings settings) {
  FOOTNOTE_CHECK(check_agent_name(name));
  settings.corpora = {{1}};
  FOOTNOTE_CHECK(check_agent_settings(settings));
  FOOTNOTE_TRY(const auto there, agents.agents(call, workspace));
  if (std::ranges::find(there, name, &Agent::name) != there.end()) {
    return fail_field(ErrorCode::kAlreadyExists, "name", "an agent '{}' already exists", name);
  }
  if (there.size() >= kAgentsMax) return fail(ErrorCode::kResourceExhausted, "a workspace has at most {} agents", kAgentsMax);
  return {};
}

}  // namespace

Result<Agent> make_agent(const CallContext& call, AgentStore& agents, CatalogStore& catalog, const EmbeddingSpace& space,
                         WorkspaceId workspace, std::string_view name, AgentSettings settings) {
  if (settings.corpora.empty()) {
    FOOTNOTE_CHECK(check_before(call, agents, workspace, name, settings));
    FOOTNOTE_TRY(const auto corpora, catalog.corpora(call, workspace));
    if (std::ranges::find(corpora, name, &Corpus::name) != corpora.end()) {
      return fail_field(ErrorCode::kAlreadyExists, "corpora",
                        "a corpus '{}' already exists: name it in 'corpora' if the agent should search it, or choose another name", name);
    }
    FOOTNOTE_TRY(const Corpus own, catalog.ensure_corpus(call, workspace, name, space));
    settings.corpora = {own.id};
  }
  return agents.add_agent(call, workspace, name, settings);
}

}  // namespace footnote::answer
