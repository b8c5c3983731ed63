#include "providers/sqlite/sqlite_agent_store.h"

#include "providers/sqlite/agent_json.h"
#include "providers/sqlite/rows.h"

namespace footnote {

namespace {

constexpr std::size_t kAgentIdCharacters = 16;

std::unexpected<Error> no_agent(const AgentId& id) { return fail(ErrorCode::kNotFound, "there is no agent '{}'", id.value); }

Result<std::int64_t> count_of(sql::Statement count) {
  FOOTNOTE_CHECK(count.step());
  return count.integer(0);
}

/// Reads columns id, workspace_id, name, published_version, created_at, updated_at, draft.
Result<Agent> agent_from(const sql::Statement& row) {
  FOOTNOTE_TRY(auto draft, agent_settings_from_stored_text(row.text(6)));
  return Agent{.id = {std::string(row.text(0))},
               .workspace = {row.integer(1)},
               .name = std::string(row.text(2)),
               .draft = std::move(draft),
               .published_version = static_cast<int>(row.integer(3)),
               .created_at = time_from(row.integer(4)),
               .updated_at = time_from(row.integer(5))};
}

Result<Agent> read_agent(sql::Database& database, WorkspaceId workspace, const AgentId& id) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, name, published_version, created_at, updated_at, draft FROM agents "
                                           "WHERE id = ? AND workspace_id = ?"));
  find.bind(id.value, workspace.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return no_agent(id);
  return agent_from(find);
}

/// Reads columns agent_id, workspace_id, name, version, published_at, settings.
Result<PublishedAgent> version_from(const sql::Statement& row) {
  FOOTNOTE_TRY(auto settings, agent_settings_from_stored_text(row.text(5)));
  return PublishedAgent{.id = {std::string(row.text(0))},
                        .workspace = {row.integer(1)},
                        .name = std::string(row.text(2)),
                        .version = static_cast<int>(row.integer(3)),
                        .settings = std::move(settings),
                        .published_at = time_from(row.integer(4))};
}

Result<void> check_corpora(sql::Database& database, WorkspaceId workspace, const AgentSettings& settings) {
  for (const CorpusId corpus : settings.corpora) {
    const auto row = read_corpus(database, corpus);
    if (row ? row->corpus.workspace == workspace : row.error().code != ErrorCode::kNotFound) {
      FOOTNOTE_CHECK(row);
      continue;
    }
    return fail_field(ErrorCode::kNotFound, "corpora", "there is no corpus {}", corpus.value);
  }
  return {};
}

Result<void> check_name_is_free(sql::Database& database, WorkspaceId workspace, std::string_view name, const AgentId& but) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM agents WHERE workspace_id = ? AND name = ? AND id <> ?"));
  find.bind(workspace.value, name, but.value);
  FOOTNOTE_TRY(const bool taken, find.step());
  if (taken) return fail_field(ErrorCode::kAlreadyExists, "name", "an agent '{}' already exists", name);
  return {};
}

Result<void> write_draft(sql::Database& database, const AgentId& id, std::string_view name, const AgentSettings& draft, UtcTime now) {
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE agents SET name = ?, draft = ?, updated_at = ? WHERE id = ?"));
  update.bind(name, to_stored_text(draft), to_row(now), id.value);
  return update.run();
}

Result<PublishedAgent> publish_settings(sql::Database& database, const Agent& agent, const AgentSettings& settings, UtcTime now) {
  FOOTNOTE_CHECK(check_corpora(database, agent.workspace, settings));
  const int version = agent.published_version + 1;
  FOOTNOTE_TRY(auto insert,
               database.prepare("INSERT INTO agent_versions (agent_id, version, published_at, name, settings) VALUES (?, ?, ?, ?, ?)"));
  insert.bind(agent.id.value, version, to_row(now), agent.name, to_stored_text(settings));
  FOOTNOTE_CHECK(insert.run());
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE agents SET published_version = ?, updated_at = ? WHERE id = ?"));
  update.bind(version, to_row(now), agent.id.value);
  FOOTNOTE_CHECK(update.run());
  return PublishedAgent{agent.id, agent.workspace, agent.name, version, settings, now};
}

CuratedAnswer curated_from(const sql::Statement& row, const AgentId& agent) {
  return {.id = {row.integer(0)},
          .agent = agent,
          .pattern = std::string(row.text(6)),
          .answer = std::string(row.text(7)),
          .priority = row.integer(1),
          .language = std::string(row.text(3)),
          .page_url_prefix = std::string(row.text(4)),
          .enabled = row.integer(2) != 0,
          .updated_at = time_from(row.integer(5))};
}

Result<CuratedId> write_curated(sql::Database& database, const CuratedAnswer& answer) {
  if (!answer.id) {
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO curated_answers (agent_id, priority, enabled, language, page_url_prefix, "
                                               "updated_at, pattern, answer) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(answer.agent.value, answer.priority, answer.enabled, answer.language, answer.page_url_prefix, to_row(answer.updated_at),
                answer.pattern, answer.answer);
    FOOTNOTE_CHECK(insert.run());
    return CuratedId{database.last_insert_id()};
  }
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE curated_answers SET priority = ?, enabled = ?, language = ?, page_url_prefix = ?, "
                                             "updated_at = ?, pattern = ?, answer = ? WHERE id = ? AND agent_id = ?"));
  update.bind(answer.priority, answer.enabled, answer.language, answer.page_url_prefix, to_row(answer.updated_at), answer.pattern,
              answer.answer, answer.id.value, answer.agent.value);
  FOOTNOTE_CHECK(update.run());
  if (database.changed_rows() == 0) return fail(ErrorCode::kNotFound, "there is no curated answer {}", answer.id.value);
  return answer.id;
}

Result<void> check_curated_room(sql::Database& database, const AgentId& agent) {
  FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM curated_answers WHERE agent_id = ?"));
  count.bind(agent.value);
  FOOTNOTE_TRY(const std::int64_t there, count_of(std::move(count)));
  if (there <= static_cast<std::int64_t>(kCuratedAnswersMax)) return {};
  return fail(ErrorCode::kResourceExhausted, "an agent has at most {} curated answers", kCuratedAnswersMax);
}

Result<void> next_curated_revision(sql::Database& database, const AgentId& agent) {
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE agents SET curated_revision = curated_revision + 1 WHERE id = ?"));
  update.bind(agent.value);
  return update.run();
}

/// The last published settings, else the draft.
Result<AgentSettings> effective_settings(sql::Database& database, const Agent& agent) {
  if (agent.published_version == 0) return agent.draft;
  FOOTNOTE_TRY(auto find, database.prepare("SELECT settings FROM agent_versions WHERE agent_id = ? AND version = ?"));
  find.bind(agent.id.value, agent.published_version);
  FOOTNOTE_CHECK(find.step());
  return agent_settings_from_stored_text(find.text(0));
}

/// Records when the agent's turns expire, for the later cleanup.
Result<void> remember_removed(sql::Database& database, const Agent& agent, UtcTime now) {
  FOOTNOTE_TRY(const AgentSettings settings, effective_settings(database, agent));
  if (settings.retention_days == 0) return {};
  FOOTNOTE_TRY(auto insert,
               database.prepare("INSERT INTO removed_agents (workspace_id, agent_id, retention_days, removed_at) VALUES (?, ?, ?, ?)"));
  insert.bind(agent.workspace.value, agent.id.value, settings.retention_days, to_row(now));
  return insert.run();
}

}  // namespace

Result<std::vector<Agent>> SqliteAgentStore::agents(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Agent>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, workspace_id, name, published_version, created_at, updated_at, draft FROM agents "
                                             "WHERE workspace_id = ? ORDER BY name"));
    list.bind(workspace.value);
    return list.collect<Agent>([&](const sql::Statement& row) { return agent_from(row); });
  });
}

Result<Agent> SqliteAgentStore::agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) const {
  return store_.read(call, [&](sql::Database& database) { return read_agent(database, workspace, id); });
}

Result<Agent> SqliteAgentStore::add_agent(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                          const AgentSettings& draft) {
  FOOTNOTE_CHECK(check_agent_name(name));
  FOOTNOTE_CHECK(check_agent_settings(draft));
  return store_.write(call, [&](sql::Database& database) -> Result<Agent> {
    FOOTNOTE_CHECK(check_corpora(database, workspace, draft));
    FOOTNOTE_CHECK(check_name_is_free(database, workspace, name, {}));
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM agents WHERE workspace_id = ?"));
    count.bind(workspace.value);
    FOOTNOTE_TRY(const std::int64_t there, count_of(std::move(count)));
    if (there >= static_cast<std::int64_t>(kAgentsMax)) {
      return fail(ErrorCode::kResourceExhausted, "a workspace has at most {} agents", kAgentsMax);
    }
    const AgentId id{"agt_" + random_base62(kAgentIdCharacters)};
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO agents (id, workspace_id, name, created_at, updated_at, draft) "
                                               "VALUES (?1, ?2, ?3, ?4, ?4, ?5)"));
    insert.bind(id.value, workspace.value, name, to_row(store_.clock().now()), to_stored_text(draft));
    FOOTNOTE_CHECK(insert.run());
    return read_agent(database, workspace, id);
  });
}

Result<Agent> SqliteAgentStore::save_draft(const CallContext& call, WorkspaceId workspace, const AgentId& id, std::string_view name,
                                           const AgentSettings& draft) {
  FOOTNOTE_CHECK(check_agent_name(name));
  FOOTNOTE_CHECK(check_agent_settings(draft));
  return store_.write(call, [&](sql::Database& database) -> Result<Agent> {
    FOOTNOTE_CHECK(read_agent(database, workspace, id));
    FOOTNOTE_CHECK(check_corpora(database, workspace, draft));
    FOOTNOTE_CHECK(check_name_is_free(database, workspace, name, id));
    FOOTNOTE_CHECK(write_draft(database, id, name, draft, store_.clock().now()));
    return read_agent(database, workspace, id);
  });
}

Result<void> SqliteAgentStore::remove_agent(const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(const Agent agent, read_agent(database, workspace, id));
    FOOTNOTE_CHECK(remember_removed(database, agent, store_.clock().now()));
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM agents WHERE id = ?"));
    erase.bind(id.value);
    return erase.run();
  });
}

Result<std::vector<RemovedAgent>> SqliteAgentStore::removed_agents(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<RemovedAgent>> {
    FOOTNOTE_TRY(
        auto list,
        database.prepare("SELECT agent_id, retention_days, removed_at FROM removed_agents WHERE workspace_id = ? ORDER BY agent_id"));
    list.bind(workspace.value);
    return list.collect<RemovedAgent>([&](const sql::Statement& row) {
      return RemovedAgent{{std::string(row.text(0))}, static_cast<int>(row.integer(1)), time_from(row.integer(2))};
    });
  });
}

Result<void> SqliteAgentStore::forget_removed(const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM removed_agents WHERE workspace_id = ? AND agent_id = ?"));
    erase.bind(workspace.value, id.value);
    return erase.run();
  });
}

Result<PublishedAgent> SqliteAgentStore::publish(const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  return store_.write(call, [&](sql::Database& database) -> Result<PublishedAgent> {
    FOOTNOTE_TRY(const Agent agent, read_agent(database, workspace, id));
    return publish_settings(database, agent, agent.draft, store_.clock().now());
  });
}

Result<PublishedAgent> SqliteAgentStore::roll_back(const CallContext& call, WorkspaceId workspace, const AgentId& id, int version) {
  return store_.write(call, [&](sql::Database& database) -> Result<PublishedAgent> {
    FOOTNOTE_TRY(const Agent agent, read_agent(database, workspace, id));
    FOOTNOTE_TRY(auto find, database.prepare("SELECT settings FROM agent_versions WHERE agent_id = ? AND version = ?"));
    find.bind(id.value, version);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail_field(ErrorCode::kNotFound, "version", "agent '{}' has no version {}", id.value, version);
    FOOTNOTE_TRY(const AgentSettings settings, agent_settings_from_stored_text(find.text(0)));
    FOOTNOTE_CHECK(write_draft(database, id, agent.name, settings, store_.clock().now()));
    return publish_settings(database, agent, settings, store_.clock().now());
  });
}

Result<std::vector<PublishedAgent>> SqliteAgentStore::versions(const CallContext& call, WorkspaceId workspace, const AgentId& id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<PublishedAgent>> {
    FOOTNOTE_CHECK(read_agent(database, workspace, id));
    FOOTNOTE_TRY(auto list, database.prepare("SELECT agent_id, ?2, name, version, published_at, settings FROM agent_versions "
                                             "WHERE agent_id = ?1 ORDER BY version DESC"));
    list.bind(id.value, workspace.value);
    return list.collect<PublishedAgent>([&](const sql::Statement& row) { return version_from(row); });
  });
}

Result<PublishedAgent> SqliteAgentStore::published(const CallContext& call, const AgentId& id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<PublishedAgent> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT v.agent_id, a.workspace_id, v.name, v.version, v.published_at, v.settings "
                                             "FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.published_version "
                                             "WHERE a.id = ?"));
    find.bind(id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return no_agent(id);
    return version_from(find);
  });
}

Result<std::vector<CuratedAnswer>> SqliteAgentStore::curated(const CallContext& call, const AgentId& agent) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<CuratedAnswer>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, priority, enabled, language, page_url_prefix, updated_at, pattern, answer "
                                             "FROM curated_answers WHERE agent_id = ? ORDER BY id"));
    list.bind(agent.value);
    return list.collect<CuratedAnswer>([&](const sql::Statement& row) { return curated_from(row, agent); });
  });
}

Result<std::int64_t> SqliteAgentStore::curated_revision(const CallContext& call, const AgentId& agent) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::int64_t> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT curated_revision FROM agents WHERE id = ?"));
    find.bind(agent.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return no_agent(agent);
    return find.integer(0);
  });
}

Result<std::vector<CuratedAnswer>> SqliteAgentStore::save_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent,
                                                                  std::span<const CuratedAnswer> answers) {
  for (const CuratedAnswer& answer : answers) FOOTNOTE_CHECK(check_curated_answer(answer));
  return store_.write(call, [&](sql::Database& database) -> Result<std::vector<CuratedAnswer>> {
    FOOTNOTE_CHECK(read_agent(database, workspace, agent));
    std::vector<CuratedAnswer> out(answers.begin(), answers.end());
    for (CuratedAnswer& answer : out) {
      answer.agent = agent;
      answer.updated_at = store_.clock().now();
      FOOTNOTE_TRY(answer.id, write_curated(database, answer));
    }
    FOOTNOTE_CHECK(check_curated_room(database, agent));
    FOOTNOTE_CHECK(next_curated_revision(database, agent));
    return out;
  });
}

Result<void> SqliteAgentStore::remove_curated(const CallContext& call, WorkspaceId workspace, const AgentId& agent, CuratedId id) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_agent(database, workspace, agent));
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM curated_answers WHERE id = ? AND agent_id = ?"));
    erase.bind(id.value, agent.value);
    FOOTNOTE_CHECK(erase.run());
    if (database.changed_rows() == 0) return fail(ErrorCode::kNotFound, "there is no curated answer {}", id.value);
    return next_curated_revision(database, agent);
  });
}

}  // namespace footnote
