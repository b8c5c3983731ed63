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

/// Corpora named in a "not found"; more would only fill the terminal.
constexpr std::size_t kNamesShownMax = 20;

bool is_printable(std::string_view text) {
  return is_valid_utf8(text) && std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

Result<void> check_name(std::string_view name) {
  if (!trim(name).empty() && name.size() <= kCorpusNameBytesMax && is_printable(name)) return {};
  return fail_field(ErrorCode::kInvalidArgument, "name", "a name has 1 to {} bytes of printable UTF-8", kCorpusNameBytesMax);
}

Corpus corpus_from(const sql::Statement& row) {
  return {.id = {row.integer(0)},
          .workspace = {row.integer(1)},
          .name = std::string(row.text(2)),
          .space = {.model_id = std::string(row.text(3)), .dimension = static_cast<int>(row.integer(4))},
          .generation = row.integer(5),
          .created_at = time_from(row.integer(6))};
}

Result<std::optional<Corpus>> find_corpus_row(sql::Database& database, WorkspaceId workspace, std::string_view name) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id, workspace_id, name, model_id, dimension, generation, created_at FROM corpora "
                                           "WHERE workspace_id = ? AND name = ?"));
  find.bind(workspace.value, name);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return std::nullopt;
  return corpus_from(find);
}

Result<std::vector<Corpus>> list_corpora(sql::Database& database, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto list, database.prepare("SELECT id, workspace_id, name, model_id, dimension, generation, created_at FROM corpora "
                                           "WHERE workspace_id = ? ORDER BY name"));
  list.bind(workspace.value);
  std::vector<Corpus> out;
  auto done = list.each([&](const sql::Statement& row) -> Result<void> {
    out.push_back(corpus_from(row));
    return {};
  });
  FOOTNOTE_CHECK(std::move(done));
  return out;
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
              "corpus '{}' holds vectors of the model {} ({} numbers), not of {} ({}): use the model it was made with (MODEL_NAME), or "
              "ingest into another corpus (--corpus)",
              corpus.name, corpus.space.model_id, corpus.space.dimension, space.model_id, space.dimension);
}

}  // namespace

Result<Workspace> SqliteCatalogStore::find_workspace(const CallContext& call, std::string_view name) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Workspace> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT id, name, created_at FROM workspaces WHERE name = ?"));
    find.bind(name);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no workspace '{}'", name);
    return Workspace{.id = {find.integer(0)}, .name = std::string(find.text(1)), .created_at = time_from(find.integer(2))};
  });
}

Result<Workspace> SqliteCatalogStore::ensure_workspace(const CallContext& call, std::string_view name) {
  FOOTNOTE_CHECK(check_name(name));
  auto made = store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO workspaces (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING"));
    insert.bind(name, to_row(store_.clock().now()));
    return insert.run();
  });
  FOOTNOTE_CHECK(std::move(made));
  return find_workspace(call, name);
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
  FOOTNOTE_CHECK(check_name(name));
  if (space.dimension < 1 || space.dimension > kDimensionMax) {
    return fail_field(ErrorCode::kInvalidArgument, "dimension", "a model's dimension lies between 1 and {}", kDimensionMax);
  }
  // Most calls find it: they must not queue behind the writer.
  FOOTNOTE_TRY(auto known, store_.read(call, [&](sql::Database& database) { return find_corpus_row(database, workspace, name); }));
  if (known) return in_space(*std::move(known), space);
  return store_.write(call, [&](sql::Database& database) -> Result<Corpus> {
    FOOTNOTE_TRY(auto owner, database.prepare("SELECT 1 FROM workspaces WHERE id = ?"));
    owner.bind(workspace.value);
    FOOTNOTE_TRY(const bool owned, owner.step());
    if (!owned) return fail(ErrorCode::kNotFound, "there is no workspace {}", workspace.value);
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO corpora (workspace_id, name, model_id, dimension, created_at) "
                                               "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"));
    insert.bind(workspace.value, name, space.model_id, space.dimension, to_row(store_.clock().now()));
    FOOTNOTE_CHECK(insert.run());
    FOOTNOTE_TRY(auto made, find_corpus_row(database, workspace, name));
    if (!made) return fail(ErrorCode::kInternal, "the corpus '{}' vanished while it was made", name);
    return in_space(*std::move(made), space);
  });
}

Result<Source> SqliteCatalogStore::ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) {
  return store_.write(call, [&](sql::Database& database) -> Result<Source> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO sources (corpus_id, kind, location) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"));
    insert.bind(corpus.value, stored_name(kind), location);
    FOOTNOTE_CHECK(insert.run());
    FOOTNOTE_TRY(auto find, database.prepare("SELECT id, synced_at FROM sources WHERE corpus_id = ? AND kind = ? AND location = ?"));
    find.bind(corpus.value, stored_name(kind), location);
    FOOTNOTE_CHECK(find.step());
    return Source{.id = {find.integer(0)},
                  .corpus = corpus,
                  .kind = kind,
                  .location = std::string(location),
                  .synced_at = time_from(find.optional_integer(1))};
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
  std::vector<std::string> scopes;
  for (const KeyScope scope : key.scopes) scopes.emplace_back(stored_name(scope));
  return store_.write(call, [&](sql::Database& database) -> Result<ApiKey> {
    FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
      INSERT INTO api_keys (workspace_id, name, display_prefix, secret_hash, scopes, created_at, expires_at, last_used_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?))sql"));
    insert.bind(key.workspace.value, key.name, key.display_prefix, key.secret_hash, to_stored_text(scopes), to_row(key.created_at),
                to_row(key.expires_at), to_row(key.last_used_at));
    FOOTNOTE_CHECK(insert.run());
    ApiKey out = key;
    out.id = {database.last_insert_id()};
    return out;
  });
}

Result<std::optional<ApiKey>> SqliteCatalogStore::find_key(const CallContext& call, std::string_view secret_hash) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::optional<ApiKey>> {
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT id, workspace_id, name, display_prefix, secret_hash, created_at, expires_at, last_used_at, scopes
      FROM api_keys WHERE secret_hash = ?)sql"));
    find.bind(secret_hash);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return std::nullopt;
    ApiKey out{.id = {find.integer(0)},
               .workspace = {find.integer(1)},
               .name = std::string(find.text(2)),
               .display_prefix = std::string(find.text(3)),
               .secret_hash = std::string(find.text(4)),
               .scopes = {},
               .created_at = time_from(find.integer(5)),
               .expires_at = time_from(find.optional_integer(6)),
               .last_used_at = time_from(find.optional_integer(7))};
    FOOTNOTE_TRY(const auto scopes, texts_from_stored_text(find.text(8)));
    for (const std::string& name : scopes) {
      FOOTNOTE_TRY(const auto scope, from_stored_name<KeyScope>(name));
      out.scopes.push_back(scope);
    }
    return out;
  });
}

}  // namespace footnote
