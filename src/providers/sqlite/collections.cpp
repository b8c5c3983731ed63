// SqlitePointStore: collections and their aliases.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/utf8.h"
#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_point_store.h"

namespace footnote {

namespace {

/// Chunks or versions of a deleted collection erased per transaction.
constexpr std::int64_t kEraseRowsMax = 1000;

Result<void> check_spaces(const Corpus& corpus) {
  const auto check = [](int dimension) -> Result<void> {
    if (dimension >= 1 && dimension <= kDimensionMax) return {};
    return fail_field(ErrorCode::kInvalidArgument, "size", "a vector has 1 to {} numbers", kDimensionMax);
  };
  FOOTNOTE_CHECK(check(corpus.space.dimension));
  std::set<std::string_view> names;
  for (const NamedSpace& space : corpus.named_spaces) {
    FOOTNOTE_CHECK(check(space.dimension));
    if (space.name.empty() || !names.insert(space.name).second) {
      return fail_field(ErrorCode::kInvalidArgument, "vectors", "two vectors have the name '{}', or one has none", space.name);
    }
  }
  return {};
}

Result<std::optional<CorpusId>> find_collection(sql::Database& database, WorkspaceId workspace, std::string_view name) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT id FROM corpora WHERE workspace_id = ? AND name = ? AND deleted_at IS NULL"));
  find.bind(workspace.value, name);
  FOOTNOTE_TRY(const bool found, find.step());
  return found ? std::optional(CorpusId{find.integer(0)}) : std::nullopt;
}

Result<std::optional<CorpusId>> find_alias(sql::Database& database, WorkspaceId workspace, std::string_view alias) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT corpus_id FROM aliases WHERE workspace_id = ? AND alias = ?"));
  find.bind(workspace.value, alias);
  FOOTNOTE_TRY(const bool found, find.step());
  return found ? std::optional(CorpusId{find.integer(0)}) : std::nullopt;
}

std::unexpected<Error> no_alias(std::string_view alias) {
  return fail_field(ErrorCode::kNotFound, "alias_name", "there is no alias '{}'", alias);
}

/// Changes aliases inside a transaction.
struct AliasWriter {
  sql::Database& database;
  WorkspaceId workspace;

  Result<void> put(std::string_view alias, CorpusId corpus) const {
    FOOTNOTE_CHECK(check_corpus_name(alias));
    FOOTNOTE_TRY(const auto taken, find_collection(database, workspace, alias));
    if (taken) return fail_field(ErrorCode::kAlreadyExists, "alias_name", "a collection has the name '{}'", alias);
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT OR REPLACE INTO aliases (workspace_id, alias, corpus_id) VALUES (?, ?, ?)"));
    insert.bind(workspace.value, alias, corpus.value);
    return insert.run();
  }
  Result<void> erase(std::string_view alias) const {
    FOOTNOTE_TRY(auto statement, database.prepare("DELETE FROM aliases WHERE workspace_id = ? AND alias = ?"));
    statement.bind(workspace.value, alias);
    FOOTNOTE_CHECK(statement.run());
    if (database.changed_rows() == 0) return no_alias(alias);
    return {};
  }

  Result<void> operator()(const MakeAlias& change) const {
    FOOTNOTE_TRY(const auto corpus, find_collection(database, workspace, change.collection));
    if (!corpus) return fail_field(ErrorCode::kNotFound, "collection_name", "there is no collection '{}'", change.collection);
    return put(change.alias, *corpus);
  }
  Result<void> operator()(const DropAlias& change) const { return erase(change.alias); }
  Result<void> operator()(const RenameAlias& change) const {
    FOOTNOTE_TRY(const auto corpus, find_alias(database, workspace, change.from));
    if (!corpus) return no_alias(change.from);
    FOOTNOTE_CHECK(erase(change.from));
    return put(change.to, *corpus);
  }
};

/// Erases some rows of deleted collections. False if none are left.
Result<bool> erase_deleted(sql::Database& database) {
  FOOTNOTE_TRY(auto edges, database.prepare("DELETE FROM edges WHERE id IN (SELECT e.id FROM edges e JOIN corpora o ON o.id = e.corpus_id "
                                            "WHERE o.deleted_at IS NOT NULL LIMIT ?)"));
  edges.bind(kEraseRowsMax);
  FOOTNOTE_CHECK(edges.run());
  if (database.changed_rows() > 0) return true;
  FOOTNOTE_TRY(auto chunks,
               database.prepare("DELETE FROM chunks WHERE id IN (SELECT c.id FROM chunks c JOIN corpora o ON o.id = c.corpus_id "
                                "WHERE o.deleted_at IS NOT NULL LIMIT ?)"));
  chunks.bind(kEraseRowsMax);
  FOOTNOTE_CHECK(chunks.run());
  if (database.changed_rows() > 0) return true;
  FOOTNOTE_TRY(auto versions, database.prepare("DELETE FROM document_versions WHERE id IN (SELECT v.id FROM document_versions v "
                                               "JOIN corpora o ON o.id = v.corpus_id WHERE o.deleted_at IS NOT NULL LIMIT ?)"));
  versions.bind(kEraseRowsMax);
  FOOTNOTE_CHECK(versions.run());
  if (database.changed_rows() > 0) return true;
  FOOTNOTE_TRY(auto documents, database.prepare("DELETE FROM documents WHERE id IN (SELECT d.id FROM documents d JOIN corpora o "
                                                "ON o.id = d.corpus_id WHERE o.deleted_at IS NOT NULL LIMIT ?)"));
  documents.bind(kEraseRowsMax);
  FOOTNOTE_CHECK(documents.run());
  if (database.changed_rows() > 0) return true;
  FOOTNOTE_CHECK(database.execute(R"sql(
      DELETE FROM purged_chunks WHERE corpus_id IN (SELECT id FROM corpora WHERE deleted_at IS NOT NULL);
      DELETE FROM payload_indexes WHERE corpus_id IN (SELECT id FROM corpora WHERE deleted_at IS NOT NULL);
      DELETE FROM sources WHERE corpus_id IN (SELECT id FROM corpora WHERE deleted_at IS NOT NULL);
      DELETE FROM originals WHERE NOT EXISTS (SELECT 1 FROM document_versions v WHERE v.original_hash = originals.hash);
    )sql"));
  return false;
}

}  // namespace

Result<Collection> SqlitePointStore::collection(const CallContext& call, WorkspaceId workspace, std::string_view name) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Collection> {
    FOOTNOTE_TRY(auto id, find_collection(database, workspace, name));
    if (!id) {
      FOOTNOTE_TRY(id, find_alias(database, workspace, name));
    }
    if (!id) return fail(ErrorCode::kNotFound, "Not found: Collection `{}` doesn't exist!", name);
    FOOTNOTE_TRY(auto row, read_corpus(database, *id));
    FOOTNOTE_TRY(auto find, database.prepare("SELECT config FROM corpora WHERE id = ?"));
    find.bind(id->value);
    FOOTNOTE_CHECK(find.step());
    return Collection{.corpus = std::move(row.corpus), .config = std::string(find.text(0))};
  });
}

Result<Collection> SqlitePointStore::create_collection(const CallContext& call, const Collection& wanted) {
  const Corpus& corpus = wanted.corpus;
  FOOTNOTE_CHECK(check_corpus_name(corpus.name));
  FOOTNOTE_CHECK(check_spaces(corpus));
  return store_.write(call, [&](sql::Database& database) -> Result<Collection> {
    FOOTNOTE_TRY(const auto known, find_collection(database, corpus.workspace, corpus.name));
    FOOTNOTE_TRY(const auto alias, find_alias(database, corpus.workspace, corpus.name));
    if (known || alias) return fail(ErrorCode::kAlreadyExists, "Collection `{}` already exists!", corpus.name);
    FOOTNOTE_TRY(auto workspace, database.prepare("SELECT 1 FROM workspaces WHERE id = ?"));
    workspace.bind(corpus.workspace.value);
    FOOTNOTE_TRY(const bool there, workspace.step());
    if (!there) return fail(ErrorCode::kNotFound, "there is no workspace {}", corpus.workspace.value);
    FOOTNOTE_TRY(auto insert,
                 database.prepare("INSERT INTO corpora (workspace_id, name, model_id, dimension, distance, named_spaces, config, "
                                  "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(corpus.workspace.value, corpus.name, corpus.space.model_id, corpus.space.dimension, stored_name(corpus.space.distance),
                to_stored_text(corpus.named_spaces), wanted.config, to_row(store_.clock().now()));
    FOOTNOTE_CHECK(insert.run());
    FOOTNOTE_TRY(auto row, read_corpus(database, {database.last_insert_id()}));
    return Collection{.corpus = std::move(row.corpus), .config = wanted.config};
  });
}

Result<void> SqlitePointStore::set_config(const CallContext& call, CorpusId corpus, std::string_view config) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE corpora SET config = ? WHERE id = ?"));
    update.bind(config, corpus.value);
    return update.run();
  });
}

Result<void> SqlitePointStore::delete_collection(const CallContext& call, CorpusId corpus) {
  auto gone = store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto aliases, database.prepare("DELETE FROM aliases WHERE corpus_id = ?"));
    aliases.bind(corpus.value);
    FOOTNOTE_CHECK(aliases.run());
    // Frees the name at once; the appended id keeps several deleted collections apart.
    FOOTNOTE_TRY(auto mark, database.prepare("UPDATE corpora SET deleted_at = ?, name = name || char(10) || id WHERE id = ?"));
    mark.bind(to_row(store_.clock().now()), corpus.value);
    return mark.run();
  });
  FOOTNOTE_CHECK(std::move(gone));
  for (bool more = true; more;) {
    FOOTNOTE_TRY(more, store_.write(call, erase_deleted));
  }
  return {};
}

Result<std::vector<CollectionAlias>> SqlitePointStore::aliases(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<CollectionAlias>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT a.alias, o.name FROM aliases a JOIN corpora o ON o.id = a.corpus_id "
                                             "WHERE a.workspace_id = ? ORDER BY a.alias"));
    list.bind(workspace.value);
    return list.collect<CollectionAlias>(
        [&](const sql::Statement& row) { return CollectionAlias{std::string(row.text(0)), std::string(row.text(1))}; });
  });
}

Result<void> SqlitePointStore::change_aliases(const CallContext& call, WorkspaceId workspace, std::span<const AliasChange> changes) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    const AliasWriter writer{database, workspace};
    for (const AliasChange& change : changes) FOOTNOTE_CHECK(std::visit(writer, change));
    return {};
  });
}

}  // namespace footnote
