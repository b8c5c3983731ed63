#include "fakes/memory_agent_store.h"

#include <algorithm>

namespace footnote::fakes {

namespace {

std::unexpected<Error> no_agent(const AgentId& id) { return fail(ErrorCode::kNotFound, "there is no agent '{}'", id.value); }

}  // namespace

Result<const MemoryAgentStore::Stored*> MemoryAgentStore::stored(WorkspaceId workspace, const AgentId& id) const {
  const auto found = agents_.find(id);
  if (found == agents_.end() || found->second.agent.workspace != workspace) return no_agent(id);
  return &found->second;
}

Result<MemoryAgentStore::Stored*> MemoryAgentStore::stored(WorkspaceId workspace, const AgentId& id) {
  const auto found = agents_.find(id);
  if (found == agents_.end() || found->second.agent.workspace != workspace) return no_agent(id);
  return &found->second;
}

Result<void> MemoryAgentStore::check(const CallContext& call, WorkspaceId workspace, std::string_view name, const AgentSettings& draft,
                                     const AgentId& but) const {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_CHECK(check_agent_name(name));
  FOOTNOTE_CHECK(check_agent_settings(draft));
  for (const CorpusId id : draft.corpora) {
    const auto corpus = catalog_.corpus(call, id);
    if (!corpus || corpus->workspace != workspace) return fail_field(ErrorCode::kNotFound, "corpora", "there is no corpus {}", id.value);
  }
  for (const auto& [id, other] : agents_) {
    if (id != but && other.agent.workspace == workspace && other.agent.name == name) {
      return fail_field(ErrorCode::kAlreadyExists, "name", "an agent '{}' already exists", name);
    }
  }
  return {};
}

Result<std::vector<Agent>> MemoryAgentStore::agents(const CallContext&, WorkspaceId workspace) const {
  MutexLock lock(mutex_);
  std::vector<Agent> out;
  for (const auto& [id, stored] : agents_) {
    if (stored.agent.workspace == workspace) out.push_back(stored.agent);
  }
  std::ranges::sort(out, {}, &Agent::name);
  return out;
}

Result<Agent> MemoryAgentStore::agent(const CallContext&, WorkspaceId workspace, const AgentId& id) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const Stored* found, stored(workspace, id));
  return found->agent;
}

Result<Agent> MemoryAgentStore::add_agent(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                          const AgentSettings& draft) {
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(check(call, workspace, name, draft, {}));
  const auto there = std::ranges::count_if(agents_, [&](const auto& entry) { return entry.second.agent.workspace == workspace; });
  if (there >= static_cast<std::ptrdiff_t>(kAgentsMax)) return fail(ErrorCode::kResourceExhausted, "too many agents");
  const Agent agent{.id = {"agt_" + random_base62(16)},
                    .workspace = workspace,
                    .name = std::string(name),
                    .draft = draft,
                    .created_at = clock_.now(),
                    .updated_at = clock_.now()};
  agents_[agent.id].agent = agent;
  return agent;
}

Result<Agent> MemoryAgentStore::save_draft(const CallContext& call, WorkspaceId workspace, const AgentId& id, std::string_view name,
                                           const AgentSettings& draft) {
  MutexLock lock(mutex_);
  FOOTNOTE_CHECK(check_agent_name(name));
  FOOTNOTE_CHECK(check_agent_settings(draft));
  FOOTNOTE_TRY(Stored * found, stored(workspace, id));
  FOOTNOTE_CHECK(check(call, workspace, name, draft, id));
  found->agent.name = name;
  found->agent.draft = draft;
  found->agent.updated_at = clock_.now();
  return found->agent;
}

Result<void> MemoryAgentStore::remove_agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const Stored* removed, stored(workspace, id));
  const AgentSettings& met = removed->versions.empty() ? removed->agent.draft : removed->versions.back().settings;
  if (met.retention_days > 0) removed_[{workspace, id}] = {id, met.retention_days, clock_.now()};
  agents_.erase(id);
  return {};
}

Result<std::vector<RemovedAgent>> MemoryAgentStore::removed_agents(const CallContext& call, WorkspaceId workspace) const {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  std::vector<RemovedAgent> out;
  for (const auto& [key, removed] : removed_) {
    if (key.first == workspace) out.push_back(removed);
  }
  return out;
}

Result<void> MemoryAgentStore::forget_removed(const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  removed_.erase({workspace, id});
  return {};
}

PublishedAgent MemoryAgentStore::publish_settings(Stored& stored, const AgentSettings& settings) {
  stored.agent.updated_at = clock_.now();
  stored.versions.push_back({.id = stored.agent.id,
                             .workspace = stored.agent.workspace,
                             .name = stored.agent.name,
                             .version = ++stored.agent.published_version,
                             .settings = settings,
                             .published_at = clock_.now()});
  return stored.versions.back();
}

Result<PublishedAgent> MemoryAgentStore::publish(const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * found, stored(workspace, id));
  return publish_settings(*found, AgentSettings(found->agent.draft));
}

Result<PublishedAgent> MemoryAgentStore::roll_back(const CallContext& call, WorkspaceId workspace, const AgentId& id, int version) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * found, stored(workspace, id));
  const auto old = std::ranges::find(found->versions, version, &PublishedAgent::version);
  if (old == found->versions.end()) return fail_field(ErrorCode::kNotFound, "version", "agent '{}' has no version {}", id.value, version);
  found->agent.draft = old->settings;
  return publish_settings(*found, AgentSettings(found->agent.draft));
}

Result<std::vector<PublishedAgent>> MemoryAgentStore::versions(const CallContext&, WorkspaceId workspace, const AgentId& id) const {
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(const Stored* found, stored(workspace, id));
  return std::vector<PublishedAgent>(found->versions.rbegin(), found->versions.rend());
}

Result<PublishedAgent> MemoryAgentStore::published(const CallContext&, const AgentId& id) const {
  MutexLock lock(mutex_);
  const auto found = agents_.find(id);
  if (found == agents_.end() || found->second.versions.empty()) return no_agent(id);
  return found->second.versions.back();
}

Result<std::vector<CuratedAnswer>> MemoryAgentStore::curated(const CallContext&, const AgentId& agent) const {
  FOOTNOTE_CHECK(curated_faults_.next());
  MutexLock lock(mutex_);
  const auto found = agents_.find(agent);
  return found == agents_.end() ? std::vector<CuratedAnswer>{} : found->second.curated;
}

Result<std::int64_t> MemoryAgentStore::curated_revision(const CallContext&, const AgentId& agent) const {
  MutexLock lock(mutex_);
  const auto found = agents_.find(agent);
  if (found == agents_.end()) return no_agent(agent);
  return found->second.curated_revision;
}

Result<std::vector<CuratedAnswer>> MemoryAgentStore::save_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                                  std::span<const CuratedAnswer> answers) {
  FOOTNOTE_CHECK(call.check());
  for (const CuratedAnswer& answer : answers) FOOTNOTE_CHECK(check_curated_answer(answer));
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * found, stored(workspace, agent));
  std::vector<CuratedAnswer> next = found->curated;
  std::vector<CuratedAnswer> out(answers.begin(), answers.end());
  for (CuratedAnswer& answer : out) {
    answer.agent = agent;
    answer.updated_at = clock_.now();
    const auto place = std::ranges::find(next, answer.id, &CuratedAnswer::id);
    if (answer.id && place == next.end()) return fail(ErrorCode::kNotFound, "there is no curated answer {}", answer.id.value);
    if (answer.id) {
      *place = answer;
    } else {
      answer.id = {++last_id_};
      next.push_back(answer);
    }
  }
  if (next.size() > kCuratedAnswersMax) return fail(ErrorCode::kResourceExhausted, "too many curated answers");
  found->curated = std::move(next);
  ++found->curated_revision;
  return out;
}

Result<void> MemoryAgentStore::remove_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent, CuratedId id) {
  FOOTNOTE_CHECK(call.check());
  MutexLock lock(mutex_);
  FOOTNOTE_TRY(Stored * found, stored(workspace, agent));
  if (std::erase_if(found->curated, [&](const CuratedAnswer& answer) { return answer.id == id; }) == 0) {
    return fail(ErrorCode::kNotFound, "there is no curated answer {}", id.value);
  }
  ++found->curated_revision;
  return {};
}

}  // namespace footnote::fakes
