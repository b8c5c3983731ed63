// SqliteChunkStore::purge: deletes what died long enough ago.
#include <algorithm>

#include "base/fault_point.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_chunk_store.h"

namespace footnote {

namespace {

/// Rows deleted per transaction: about 60 ms.
constexpr std::int64_t kPurgeRowsMax = 1000;

/// What one transaction deleted.
struct Purged {
  std::size_t rows = 0;
  Generation newest_death = 0;

  void count(Generation died) {
    ++rows;
    newest_death = std::max(newest_death, died);
  }
};

Result<Purged> purge_chunks(sql::Database& database, CorpusId corpus, UtcTime before) {
  FOOTNOTE_TRY(auto select, database.prepare("SELECT id, died FROM chunks WHERE corpus_id = ? AND died IS NOT NULL AND died_at < ? "
                                             "ORDER BY died LIMIT ?"));
  select.bind(corpus.value, to_row(before), kPurgeRowsMax);
  FOOTNOTE_TRY(auto dead, select.collect<std::pair<std::int64_t, Generation>>([&](const sql::Statement& row) {
    return std::pair<std::int64_t, Generation>(row.integer(0), row.integer(1));
  }));
  FOOTNOTE_TRY(auto remember, database.prepare("INSERT INTO purged_chunks (corpus_id, died, chunk_id) VALUES (?, ?, ?)"));
  FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM chunks WHERE id = ?"));
  Purged out;
  for (const auto& [id, died] : dead) {
    remember.bind(corpus.value, died, id);
    FOOTNOTE_CHECK(remember.run());
    erase.bind(id);
    FOOTNOTE_CHECK(erase.run());
    out.count(died);
  }
  return out;
}

struct DeadVersion {
  std::int64_t id;
  std::int64_t document;
  std::int64_t version;
  Generation died;
  std::optional<std::int64_t> source;
  std::string original;
};

Result<void> erase_version(sql::Database& database, const DeadVersion& dead) {
  FOOTNOTE_TRY(auto edges, database.prepare("DELETE FROM edges WHERE document_id = ? AND document_version = ?"));
  edges.bind(dead.document, dead.version);
  FOOTNOTE_CHECK(edges.run());
  FOOTNOTE_TRY(auto version, database.prepare("DELETE FROM document_versions WHERE id = ?"));
  version.bind(dead.id);
  FOOTNOTE_CHECK(version.run());
  FOOTNOTE_TRY(auto document, database.prepare("DELETE FROM documents WHERE id = ?1 AND deleted_at IS NOT NULL "
                                               "AND NOT EXISTS (SELECT 1 FROM document_versions WHERE document_id = ?1)"));
  document.bind(dead.document);
  FOOTNOTE_CHECK(document.run());
  if (!dead.original.empty()) {
    FOOTNOTE_TRY(auto original, database.prepare("DELETE FROM originals WHERE hash = ?1 "
                                                 "AND NOT EXISTS (SELECT 1 FROM document_versions WHERE original_hash = ?1)"));
    original.bind(dead.original);
    FOOTNOTE_CHECK(original.run());
  }
  if (!dead.source) return {};
  FOOTNOTE_TRY(auto source, database.prepare("DELETE FROM sources WHERE id = ?1 AND deleted_at IS NOT NULL "
                                             "AND NOT EXISTS (SELECT 1 FROM document_versions WHERE source_id = ?1)"));
  source.bind(*dead.source);
  return source.run();
}

/// REQUIRES: the chunks of these versions are deleted.
Result<Purged> purge_versions(sql::Database& database, CorpusId corpus, UtcTime before) {
  FOOTNOTE_TRY(auto select, database.prepare("SELECT id, document_id, version, died, source_id, original_hash FROM document_versions "
                                             "WHERE corpus_id = ? AND died IS NOT NULL AND NOT kept AND died_at < ? LIMIT ?"));
  select.bind(corpus.value, to_row(before), kPurgeRowsMax);
  FOOTNOTE_TRY(auto dead, select.collect<DeadVersion>([&](const sql::Statement& row) {
    return DeadVersion{row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.optional_integer(4), std::string(row.text(5))};
  }));
  Purged out;
  for (const DeadVersion& version : dead) {
    FOOTNOTE_CHECK(erase_version(database, version));
    out.count(version.died);
  }
  return out;
}

/// Enforces the limit on remembered deaths: whole generations are forgotten, oldest first.
Result<void> forget_deaths(sql::Database& database, CorpusId corpus, std::size_t kept_max) {
  FOOTNOTE_TRY(auto find,
               database.prepare("SELECT died FROM purged_chunks WHERE corpus_id = ? ORDER BY died DESC, chunk_id DESC LIMIT 1 OFFSET ?"));
  find.bind(corpus.value, limit_of(kept_max));
  FOOTNOTE_TRY(const bool over, find.step());
  if (!over) return {};
  const Generation newest = find.integer(0);
  FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM purged_chunks WHERE corpus_id = ? AND died <= ?"));
  erase.bind(corpus.value, newest);
  FOOTNOTE_CHECK(erase.run());
  FOOTNOTE_TRY(auto note, database.prepare("UPDATE corpora SET deaths_known_after = max(deaths_known_after, ?) WHERE id = ?"));
  note.bind(newest, corpus.value);
  return note.run();
}

}  // namespace

Result<Generation> SqliteChunkStore::purge(const CallContext& call, CorpusId corpus, UtcTime before) {
  auto known = store_.read(call, [&](sql::Database& database) { return read_corpus(database, corpus); });
  FOOTNOTE_CHECK(std::move(known));
  Generation newest = 0;
  bool any = false;
  for (const auto step : {purge_chunks, purge_versions}) {
    for (bool more = true; more;) {
      FOOTNOTE_TRY(const auto purged, store_.write(call, [&](sql::Database& database) { return step(database, corpus, before); }));
      if (purged.rows > 0) fault_point(FaultPoint::kPurgeStep);
      newest = std::max(newest, purged.newest_death);
      more = purged.rows == static_cast<std::size_t>(kPurgeRowsMax);
      any = any || purged.rows > 0;
    }
  }
  if (any) {
    auto forgotten =
        store_.write(call, [&](sql::Database& database) { return forget_deaths(database, corpus, store_.options().purged_kept_max); });
    FOOTNOTE_CHECK(std::move(forgotten));
  }
  return newest;
}

}  // namespace footnote
