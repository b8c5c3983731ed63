#include "providers/sqlite/sqlite_source_store.h"

#include "base/utf8.h"
#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/generation_rows.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_job_store.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

constexpr std::size_t kErrorBytesMax = 1'000;

std::unexpected<Error> no_source(SourceId id) { return fail(ErrorCode::kNotFound, "there is no source {}", id.value); }

std::string to_stored_text(const std::map<std::string, std::string>& options) {
  JsonObject out;
  for (const auto& [name, value] : options) out[name] = value;
  return to_text(out);
}

Result<std::map<std::string, std::string>> options_from(std::string_view text) {
  FOOTNOTE_TRY(const Json value, parse_json(text));
  if (!value.is_object()) return damaged_text("a source's options");
  std::map<std::string, std::string> out;
  for (const auto& [name, option] : value.get_object()) {
    if (!option.is_string()) return damaged_text("a source's options");
    out.emplace(name, option.get_string());
  }
  return out;
}

/// Reads columns s.id, workspace_id, corpus_id, kind, location, title, interval_seconds, watch, created_at, synced_at, next_at, error,
/// options, content.
Result<SourceRecord> source_from(const sql::Statement& row) {
  FOOTNOTE_TRY(const SourceKind kind, from_stored_name<SourceKind>(row.text(3)));
  FOOTNOTE_TRY(auto options, options_from(row.text(12)));
  return SourceRecord{.id = {row.integer(0)},
                      .workspace = {row.integer(1)},
                      .spec = {.corpus = {row.integer(2)},
                               .kind = kind,
                               .location = std::string(row.text(4)),
                               .title = std::string(row.text(5)),
                               .content = std::string(row.text(13)),
                               .options = std::move(options),
                               .interval = std::chrono::seconds{row.integer(6)},
                               .watch = row.integer(7) != 0},
                      .created_at = time_from(row.integer(8)),
                      .synced_at = time_from(row.optional_integer(9)),
                      .next_at = time_from(row.optional_integer(10)),
                      .error = std::string(row.text(11))};
}

Result<std::vector<SourceRecord>> sources_of(sql::Statement list) {
  return list.collect<SourceRecord>([](const sql::Statement& row) { return source_from(row); });
}

Result<SourceRecord> read_source(sql::Database& database, SourceId id) {
  FOOTNOTE_TRY(auto find, database.prepare(R"sql(
    SELECT s.id, o.workspace_id, s.corpus_id, s.kind, s.location, s.title, s.interval_seconds, s.watch, s.created_at, s.synced_at, s.next_at,
           s.error, s.options, s.content
    FROM sources s JOIN corpora o ON o.id = s.corpus_id WHERE s.id = ? AND s.deleted_at IS NULL AND o.deleted_at IS NULL)sql"));
  find.bind(id.value);
  FOOTNOTE_TRY(const bool found, find.step());
  if (!found) return no_source(id);
  return source_from(find);
}

Result<SourceRecord> source_of(sql::Database& database, WorkspaceId workspace, SourceId id) {
  auto record = read_source(database, id);
  if (record && record->workspace != workspace) return no_source(id);
  return record;
}

Result<void> check_room(sql::Database& database, WorkspaceId workspace) {
  FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM sources s JOIN corpora o ON o.id = s.corpus_id "
                                            "WHERE o.workspace_id = ? AND s.deleted_at IS NULL"));
  count.bind(workspace.value);
  FOOTNOTE_CHECK(count.step());
  if (count.integer(0) < static_cast<std::int64_t>(kSourcesMax)) return {};
  return fail(ErrorCode::kResourceExhausted, "a workspace has at most {} sources; delete one that is not needed", kSourcesMax);
}

}  // namespace

Result<SourceStore::Put> SqliteSourceStore::put(const CallContext& call, const SourceSpec& spec) {
  FOOTNOTE_CHECK(check_source_spec(spec));
  const UtcTime now = store_.clock().now();
  return store_.write(call, [&](sql::Database& database) -> Result<Put> {
    FOOTNOTE_TRY(const CorpusRow corpus, read_corpus(database, spec.corpus));
    FOOTNOTE_TRY(auto find, database.prepare("SELECT id FROM sources "
                                             "WHERE corpus_id = ? AND kind = ? AND location = ?"));
    find.bind(spec.corpus.value, stored_name(spec.kind), spec.location);
    FOOTNOTE_TRY(const bool known, find.step());
    SourceId id{known ? find.integer(0) : 0};
    if (!known) {
      FOOTNOTE_CHECK(check_room(database, corpus.corpus.workspace));
      FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO sources (corpus_id, kind, location, created_at) VALUES (?, ?, ?, ?)"));
      insert.bind(spec.corpus.value, stored_name(spec.kind), spec.location, to_row(now));
      FOOTNOTE_CHECK(insert.run());
      id = {database.last_insert_id()};
    }
    // The same schedule goes on; another one starts now.
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE sources SET title = ?2, content = ?3, options = ?4, watch = ?6, "
                                               "next_at = CASE WHEN interval_seconds = ?5 THEN next_at WHEN ?5 > 0 THEN ?7 END, "
                                               "interval_seconds = ?5 WHERE id = ?1"));
    update.bind(id.value, spec.title, spec.content, to_stored_text(spec.options), spec.interval.count(), spec.watch,
                to_row(now + spec.interval));
    FOOTNOTE_CHECK(update.run());
    FOOTNOTE_TRY(auto record, read_source(database, id));
    return Put{std::move(record), !known};
  });
}

Result<SourceRecord> SqliteSourceStore::source(const CallContext& call, WorkspaceId workspace, SourceId id) const {
  return store_.read(call, [&](sql::Database& database) { return source_of(database, workspace, id); });
}

Result<std::vector<SourceRecord>> SqliteSourceStore::sources(const CallContext& call, WorkspaceId workspace) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<SourceRecord>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT s.id, o.workspace_id, s.corpus_id, s.kind, s.location, s.title, s.interval_seconds, s.watch, s.created_at, s.synced_at,
             s.next_at, s.error, s.options, s.content
      FROM sources s JOIN corpora o ON o.id = s.corpus_id
      WHERE o.workspace_id = ? AND s.deleted_at IS NULL AND o.deleted_at IS NULL ORDER BY s.id)sql"));
    list.bind(workspace.value);
    return sources_of(std::move(list));
  });
}

Result<std::vector<SourceRecord>> SqliteSourceStore::due(const CallContext& call, UtcTime now, std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<SourceRecord>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT s.id, o.workspace_id, s.corpus_id, s.kind, s.location, s.title, s.interval_seconds, s.watch, s.created_at, s.synced_at,
             s.next_at, s.error, s.options, s.content
      FROM sources s JOIN corpora o ON o.id = s.corpus_id
      WHERE s.next_at <= ? AND s.deleted_at IS NULL AND o.deleted_at IS NULL ORDER BY s.next_at, s.id LIMIT ?)sql"));
    list.bind(to_row(now), limit_of(limit));
    return sources_of(std::move(list));
  });
}

Result<std::vector<SourceRecord>> SqliteSourceStore::watched(const CallContext& call) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<SourceRecord>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT s.id, o.workspace_id, s.corpus_id, s.kind, s.location, s.title, s.interval_seconds, s.watch, s.created_at, s.synced_at,
             s.next_at, s.error, s.options, s.content
      FROM sources s JOIN corpora o ON o.id = s.corpus_id
      WHERE s.watch AND s.deleted_at IS NULL AND o.deleted_at IS NULL ORDER BY s.id)sql"));
    list.bind();
    return sources_of(std::move(list));
  });
}

Result<SourceCounts> SqliteSourceStore::counts(const CallContext& call, SourceId id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<SourceCounts> {
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*), coalesce(sum(chunk_count), 0) FROM document_versions "
                                              "WHERE source_id = ? AND died IS NULL"));
    count.bind(id.value);
    FOOTNOTE_CHECK(count.step());
    return SourceCounts{count.integer(0), count.integer(1)};
  });
}

Result<void> SqliteSourceStore::note_sync(const CallContext& call, SourceId id, UtcTime at, std::string_view error) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE sources SET error = ?3, synced_at = CASE ?3 WHEN '' THEN ?2 ELSE synced_at END, "
                                               "next_at = CASE WHEN interval_seconds > 0 THEN ?2 + interval_seconds * 1000 END "
                                               "WHERE id = ?1 AND deleted_at IS NULL"));
    update.bind(id.value, to_row(at), utf8_prefix(repair_utf8(error), kErrorBytesMax));
    return update.run();
  });
}

Result<void> SqliteSourceStore::postpone(const CallContext& call, SourceId id, UtcTime next_at) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto update, database.prepare("UPDATE sources SET next_at = ?2 WHERE id = ?1 AND interval_seconds > 0"));
    update.bind(id.value, to_row(next_at));
    return update.run();
  });
}

Result<std::vector<SourceFailure>> SqliteSourceStore::failures(const CallContext& call, SourceId id) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<SourceFailure>> {
    FOOTNOTE_TRY(auto list,
                 database.prepare("SELECT key, stamp, reason, attempts, next_at FROM source_failures WHERE source_id = ? ORDER BY key"));
    list.bind(id.value);
    return list.collect<SourceFailure>([](const sql::Statement& row) {
      return SourceFailure{.key = std::string(row.text(0)),
                           .stamp = std::string(row.text(1)),
                           .reason = std::string(row.text(2)),
                           .attempts = static_cast<int>(row.integer(3)),
                           .next_at = time_from(row.integer(4))};
    });
  });
}

Result<void> SqliteSourceStore::set_failures(const CallContext& call, SourceId id, std::span<const SourceFailure> failures) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM sources WHERE id = ? AND deleted_at IS NULL"));
    find.bind(id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return {};
    FOOTNOTE_TRY(auto clear, database.prepare("DELETE FROM source_failures WHERE source_id = ?"));
    clear.bind(id.value);
    FOOTNOTE_CHECK(clear.run());
    FOOTNOTE_TRY(auto insert, database.prepare("INSERT OR REPLACE INTO source_failures (source_id, key, stamp, reason, attempts, next_at) "
                                               "VALUES (?, ?, ?, ?, ?, ?)"));
    for (const SourceFailure& failure : failures.first(std::min(failures.size(), kSourceFailuresMax))) {
      insert.bind(id.value, repair_utf8(failure.key), failure.stamp, utf8_prefix(repair_utf8(failure.reason), kErrorBytesMax),
                  failure.attempts, to_row(failure.next_at));
      FOOTNOTE_CHECK(insert.run());
    }
    return {};
  });
}

Result<std::size_t> SqliteSourceStore::erase(const CallContext& call, WorkspaceId workspace, SourceId id) {
  const UtcTime now = store_.clock().now();
  return store_.write(call, [&](sql::Database& database) -> Result<std::size_t> {
    FOOTNOTE_TRY(const SourceRecord record, source_of(database, workspace, id));
    FOOTNOTE_TRY(const CorpusRow corpus, read_corpus(database, record.spec.corpus));
    const Generation generation = corpus.corpus.generation + 1;
    FOOTNOTE_TRY(auto list, database.prepare("SELECT document_id, version FROM document_versions WHERE source_id = ? AND died IS NULL"));
    list.bind(id.value);
    FOOTNOTE_TRY(const auto live, (list.collect<std::pair<std::int64_t, int>>([](const sql::Statement& row) {
                   return std::pair<std::int64_t, int>(row.integer(0), static_cast<int>(row.integer(1)));
                 })));
    for (const auto& [document, version] : live) {
      FOOTNOTE_CHECK(bury_version(database, generation, now, document, version));
      FOOTNOTE_CHECK(mark_document_deleted(database, now, document));
    }
    if (!live.empty()) FOOTNOTE_CHECK(publish_generation(database, corpus.corpus.id, generation));
    FOOTNOTE_CHECK(cancel_jobs_of(database, id, now));
    FOOTNOTE_TRY(auto clear, database.prepare("DELETE FROM source_failures WHERE source_id = ?"));
    clear.bind(id.value);
    FOOTNOTE_CHECK(clear.run());
    FOOTNOTE_TRY(auto used, database.prepare("SELECT 1 FROM document_versions WHERE source_id = ? LIMIT 1"));
    used.bind(id.value);
    FOOTNOTE_TRY(const bool is_used, used.step());
    // Versions that died refer to it until they are purged. A new source may have its location.
    FOOTNOTE_TRY(auto remove, is_used ? database.prepare("UPDATE sources SET deleted_at = ?2, location = 'deleted ' || id, content = '', "
                                                         "next_at = NULL, watch = 0 WHERE id = ?1")
                                      : database.prepare("DELETE FROM sources WHERE id = ?1 AND ?2 IS NOT NULL"));
    remove.bind(id.value, to_row(now));
    FOOTNOTE_CHECK(remove.run());
    return live.size();
  });
}

}  // namespace footnote
