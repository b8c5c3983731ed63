#include "providers/sqlite/sqlite_catalog_store.h"

#include <algorithm>
#include <ranges>

#include "base/text.h"
#include "base/utf8.h"
#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

/// Maximum number of corpora listed in a "not found" message.
constexpr std::size_t kNamesShownMax = 20;

Workspace workspace_from(const sql::Statement& row) {
  return {.id = {row.integer(0)}, .name = std::string(row.text(1)), .created_at = time_from(row.integer(2))};
}

/// The columns that key_from reads.
constexpr sql::SqlText kKeysById = R"sql(
  SELECT id, workspace_id, name, display_prefix, secret_hash, created_at, expires_at, last_used_at,
         requests_per_minute, requests_per_day, usage_day, usage_requests, scopes, revoked_at, labels, origin_id
  FROM api_keys WHERE ?1 IS NULL OR id = ?1 ORDER BY id)sql";

Result<ApiKey> key_from(const sql::Statement& row) {
  ApiKey out{.id = {row.integer(0)},
             .workspace = {row.integer(1)},
             .name = std::string(row.text(2)),
             .display_prefix = std::string(row.text(3)),
             .secret_hash = std::string(row.text(4)),
             .scopes = {},
             .created_at = time_from(row.integer(5)),
             .expires_at = time_from(row.optional_integer(6)),
             .limits = {row.integer(8), row.integer(9)},
             .usage = {time_from(row.optional_integer(7)), row.integer(10), row.integer(11)},
             .origin = {row.integer(15)},
             .revoked_at = time_from(row.optional_integer(13))};
  FOOTNOTE_TRY(out.labels, texts_from_stored_text(row.text(14)));
  FOOTNOTE_TRY(const auto scopes, texts_from_stored_text(row.text(12)));
  for (const std::string& name : scopes) {
    FOOTNOTE_TRY(const auto scope, from_stored_name<KeyScope>(name));
    out.scopes.push_back(scope);
  }
  return out;
}

Result<void> check_workspace(sql::Database& database, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM workspaces WHERE id = ?"));
  find.bind(workspace.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return fail(ErrorCode::kNotFound, "there is no workspace {}", workspace.value);
  return {};
}

Result<std::optional<Corpus>> find_corpus_row(sql::Database& database, WorkspaceId workspace, std::string_view name) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, name, model_id, dimension, generation, created_at, distance, "
                                           "named_spaces, gate FROM corpora WHERE workspace_id = ? AND name = ? AND deleted_at IS NULL"));
  find.bind(workspace.value, name);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return std::nullopt;
  return corpus_from(find);
}

Result<std::vector<Corpus>> list_corpora(sql::Database& database, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto list, database.prepare("SELECT id, workspace_id, name, model_id, dimension, generation, created_at, distance, "
                                           "named_spaces, gate FROM corpora WHERE workspace_id = ? AND deleted_at IS NULL ORDER BY name"));
  list.bind(workspace.value);
  return list.collect<Corpus>([&](const sql::Statement& row) { return corpus_from(row); });
}

std::unexpected<Error> no_corpus(std::string_view name, const std::vector<Corpus>& corpora) {
  if (corpora.empty()) return fail(ErrorCode::kNotFound, "there is no corpus '{}', and no other yet: ingest something first", name);
  std::string names;
  for (const Corpus& corpus : corpora | std::views::take(kNamesShownMax)) {
    names += (names.empty() ? "" : ", ") + corpus.name;
  }
  if (corpora.size() > kNamesShownMax) names += fmt::format(" and {} more", corpora.size() - kNamesShownMax);
  return fail(ErrorCode::kNotFound, "there is no corpus '{}'; there are: {}", name, names);
}

Result<Corpus> in_space(Corpus corpus, const EmbeddingSpace& space) {
  if (corpus.space == space) return corpus;
  return fail(ErrorCode::kFailedPrecondition,
              "corpus '{}' holds vectors of the model {} ({} numbers), not of {} ({}): use the model it was made with (MODEL_NAME), "
              "embed it again (`footnote rebuild-index {}`), or ingest into another corpus (--corpus)",
              corpus.name, corpus.space.model_id, corpus.space.dimension, space.model_id, space.dimension, corpus.name);
}

}  // namespace

Result<void> check_corpus_name(std::string_view name) {
  const bool printable =
      is_valid_utf8(name) && std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (!trim(name).empty() && name.size() <= kCorpusNameBytesMax && printable) return {};
  return fail_field(ErrorCode::kInvalidArgument, "name", "a name must have 1 to {} bytes of printable UTF-8", kCorpusNameBytesMax);
}

Result<std::vector<Workspace>> SqliteCatalogStore::workspaces(const CallContext& call) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Workspace>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, name, created_at FROM workspaces ORDER BY name"));
    list.bind();
    return list.collect<Workspace>([&](const sql::Statement& row) { return workspace_from(row); });
  });
}

Result<Workspace> SqliteCatalogStore::find_workspace(const CallContext& call, std::string_view name) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Workspace> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT id, name, created_at FROM workspaces WHERE name = ?"));
    find.bind(name);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no workspace '{}'", name);
    return workspace_from(find);
  });
}

Result<Workspace> SqliteCatalogStore::add_workspace(const CallContext& call, std::string_view name) {
  FOOTNOTE_CHECK(check_corpus_name(name));
  const UtcTime now = store_.clock().now();
  return store_.write(call, [&](sql::Database& database) -> Result<Workspace> {
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO workspaces (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING"));
    insert.bind(name, to_row(now));
    FOOTNOTE_CHECK(insert.run());
    if (database.changed_rows() == 0) return fail(ErrorCode::kAlreadyExists, "a workspace '{}' already exists", name);
    return Workspace{.id = {database.last_insert_id()}, .name = std::string(name), .created_at = now};
  });
}

Result<std::vector<Corpus>> SqliteCatalogStore::corpora(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) { return list_corpora(database, workspace); });
}

Result<Corpus> SqliteCatalogStore::find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Corpus> {
    FOOTNOTE_TRY(auto found, find_corpus_row(database, workspace, name));
    if (found) return *std::move(found);
    FOOTNOTE_TRY(const auto others, list_corpora(database, workspace));
    return no_corpus(name, others);
  });
}

Result<Corpus> SqliteCatalogStore::corpus(const CallContext& call, CorpusId id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Corpus> {
    FOOTNOTE_TRY(auto row, read_corpus(database, id));
    return std::move(row.corpus);
  });
}

Result<Corpus> SqliteCatalogStore::ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                                 const EmbeddingSpace& space) {
  FOOTNOTE_CHECK(check_corpus_name(name));
  if (space.dimension < 1 || space.dimension > kDimensionMax) {
    return fail_field(ErrorCode::kInvalidArgument, "dimension", "a model's dimension must be between 1 and {}", kDimensionMax);
  }
  // Usually the corpus exists: check without waiting for the writer.
  FOOTNOTE_TRY(auto known, store_.read(call, [&](sql::Database& database) { return find_corpus_row(database, workspace, name); }));
  if (known) return in_space(*std::move(known), space);
  return store_.write(call, [&](sql::Database& database) -> Result<Corpus> {
    FOOTNOTE_CHECK(check_workspace(database, workspace));
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO corpora (workspace_id, name, model_id, dimension, distance, created_at) "
                                               "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
    insert.bind(workspace.value, name, space.model_id, space.dimension, stored_name(space.distance), to_row(store_.clock().now()));
    FOOTNOTE_CHECK(insert.run());
    FOOTNOTE_TRY(auto made, find_corpus_row(database, workspace, name));
    if (!made) return fail(ErrorCode::kInternal, "the corpus '{}' disappeared while it was created", name);
    return in_space(*std::move(made), space);
  });
}

Result<void> SqliteCatalogStore::set_gate(const CallContext& call, CorpusId corpus, const std::optional<GateCalibration>& gate) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE corpora SET gate = ? WHERE id = ?"));
    update.bind(to_stored_text(gate), corpus.value);
    return update.run();
  });
}

Result<Source> SqliteCatalogStore::ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) {
  const auto find = [&](sql::Database& database) -> Result<std::optional<Source>> {
    FOOTNOTE_TRY(auto row, database.prepare("SELECT id, synced_at FROM sources WHERE corpus_id = ? AND kind = ? AND location = ?"));
    row.bind(corpus.value, stored_name(kind), location);
    FOOTNOTE_TRY(const bool is_there, row.step());
    if (!is_there) return std::nullopt;
    return Source{.id = {row.integer(0)},
                  .corpus = corpus,
                  .kind = kind,
                  .location = std::string(location),
                  .synced_at = time_from(row.optional_integer(1))};
  };
  // Most calls find it: check without waiting for the writer.
  FOOTNOTE_TRY(auto known, store_.read(call, find));
  if (known) return *std::move(known);
  return store_.write(call, [&](sql::Database& database) -> Result<Source> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO sources (corpus_id, kind, location) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
    insert.bind(corpus.value, stored_name(kind), location);
    FOOTNOTE_CHECK(insert.run());
    FOOTNOTE_TRY(auto made, find(database));
    if (!made) return fail(ErrorCode::kInternal, "the source '{}' disappeared while it was being created", location);
    return *std::move(made);
  });
}

Result<void> SqliteCatalogStore::mark_synced(const CallContext& call, SourceId source, UtcTime at) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE sources SET synced_at = ? WHERE id = ?"));
    update.bind(to_row(at), source.value);
    FOOTNOTE_CHECK(update.run());
    if (database.changed_rows() == 0) return fail(ErrorCode::kNotFound, "there is no source {}", source.value);
    return {};
  });
}

Result<ApiKey> SqliteCatalogStore::add_key(const CallContext& call, const ApiKey& key) {
  FOOTNOTE_CHECK(check_corpus_name(key.name));
  std::vector<std::string> scopes;
  for (const KeyScope scope : key.scopes) scopes.emplace_back(stored_name(scope));
  return store_.write(call, [&](sql::Database& database) -> Result<ApiKey> {
    FOOTNOTE_CHECK(check_workspace(database, key.workspace));
    FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
      INSERT INTO api_keys (workspace_id, name, display_prefix, secret_hash, scopes, created_at, expires_at,
                            requests_per_minute, requests_per_day, labels, origin_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql"));
    insert.bind(key.workspace.value, key.name, key.display_prefix, key.secret_hash, to_stored_text(scopes), to_row(key.created_at),
                to_row(key.expires_at), key.limits.requests_per_minute, key.limits.requests_per_day, to_stored_text(key.labels),
                to_row(key.origin));
    FOOTNOTE_CHECK(insert.run());
    ApiKey out = key;
    out.id = {database.last_insert_id()};
    return out;
  });
}

Result<std::vector<ApiKey>> SqliteCatalogStore::keys(const CallContext& call) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<ApiKey>> {
    FOOTNOTE_TRY(auto list, database.prepare(kKeysById));
    list.bind(nullptr);
    return list.collect<ApiKey>([&](const sql::Statement& row) { return key_from(row); });
  });
}

Result<ApiKey> SqliteCatalogStore::end_key(const CallContext& call, ApiKeyId id, UtcTime at) {
  return change_key(call, "UPDATE api_keys SET expires_at = min(ifnull(expires_at, ?1), ?1) WHERE id = ?2", id, at);
}

Result<ApiKey> SqliteCatalogStore::revoke_key(const CallContext& call, ApiKeyId id, UtcTime at) {
  return change_key(call, "UPDATE api_keys SET revoked_at = ifnull(revoked_at, ?1) WHERE id = ?2", id, at);
}

Result<ApiKey> SqliteCatalogStore::change_key(const CallContext& call, sql::SqlText change, ApiKeyId id, UtcTime at) {
  return store_.write(call, [&](sql::Database& database) -> Result<ApiKey> {
    FOOTNOTE_TRY(auto update, database.prepare(change));
    update.bind(to_row(at), id.value);
    FOOTNOTE_CHECK(update.run());
    FOOTNOTE_TRY(auto find, database.prepare(kKeysById));
    find.bind(id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no key {}", id.value);
    return key_from(find);
  });
}

Result<void> SqliteCatalogStore::note_key_usage(const CallContext& call, std::span<const std::pair<ApiKeyId, KeyUsage>> usage) {
  if (usage.empty()) return {};
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE api_keys SET last_used_at = ?, usage_day = ?, usage_requests = ? WHERE id = ?"));
    for (const auto& [id, used] : usage) {
      update.bind(to_row(used.last_used_at), used.day, used.requests, id.value);
      FOOTNOTE_CHECK(update.run());
    }
    return {};
  });
}

Result<std::string> SqliteCatalogStore::key_pepper(const CallContext& call) {
  const auto find = [](sql::Database& database) -> Result<std::string> {
    FOOTNOTE_TRY(auto row, database.prepare("SELECT value FROM secrets WHERE name = 'key_pepper'"));
    row.bind();
    FOOTNOTE_CHECK(row.step());
    return std::string(row.text(0));
  };
  FOOTNOTE_TRY(const std::string known, store_.read(call, find));
  if (!known.empty()) return known;
  return store_.write(call, [&](sql::Database& database) -> Result<std::string> {
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO secrets (name, value) VALUES ('key_pepper', ?) ON CONFLICT DO NOTHING"));
    insert.bind(random_hex128() + random_hex128());
    FOOTNOTE_CHECK(insert.run());
    return find(database);
  });
}

}  // namespace footnote
