// SqliteStore::check: the database checks of `doctor`.
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

namespace {

/// Maximum number of reported findings per check; one damaged page can affect thousands of rows.
constexpr std::size_t kFindingsPerCheckMax = 20;

/// A query that returns one row, with one sentence, for each problem.
struct Check {
  std::string_view name;
  sql::SqlText query;
};

constexpr Check kChecks[] = {
    {"foreign_keys", R"sql(
      SELECT 'a row of ' || "table" || ' refers to a row of ' || parent || ' that is not there (row ' || ifnull(rowid, '?') || ')'
      FROM pragma_foreign_key_check)sql"},
    {"live_version", R"sql(
      SELECT 'document ' || d.id || ' is ' || iif(d.deleted_at IS NULL, 'live', 'deleted') || ' and has ' || count(v.id) || ' live versions'
      FROM documents d LEFT JOIN document_versions v ON v.document_id = d.id AND v.died IS NULL
      GROUP BY d.id
      HAVING count(v.id) <> (d.deleted_at IS NULL) OR (d.deleted_at IS NULL AND max(v.version) <> d.version))sql"},
    {"chunk_count", R"sql(
      SELECT 'document ' || v.document_id || ' version ' || v.version || ' should have ' || v.chunk_count || ' chunks and has ' || count(c.id)
      FROM document_versions v
      LEFT JOIN chunks c ON c.document_id = v.document_id AND c.document_version = v.version AND c.died IS NULL
      WHERE v.died IS NULL GROUP BY v.id HAVING count(c.id) <> v.chunk_count)sql"},
    {"orphan_chunks", R"sql(
      SELECT 'chunk ' || c.id || ' lives, but version ' || c.document_version || ' of its document ' || c.document_id || ' does not'
      FROM chunks c LEFT JOIN document_versions v ON v.document_id = c.document_id AND v.version = c.document_version
      WHERE c.died IS NULL AND (v.id IS NULL OR v.died IS NOT NULL))sql"},
    {"vectors", R"sql(
      SELECT 'chunk ' || c.id || ' has ' || ifnull(v.windows, 0) || ' vectors in ' || ifnull(length(v.vectors), 0) ||
             ' bytes; its corpus has vectors of ' || o.dimension || ' numbers'
      FROM chunks c JOIN corpora o ON o.id = c.corpus_id LEFT JOIN chunk_vectors v ON v.chunk_id = c.id
      LEFT JOIN points p ON p.chunk_id = c.id
      WHERE (v.chunk_id IS NULL AND p.payload IS NULL) OR v.windows < 1 OR length(v.vectors) <> v.windows * o.dimension * 4)sql"},
    {"generations", R"sql(
      SELECT 'chunk ' || c.id || ' was born in ' || c.born || ' and died in ' || ifnull(c.died, 'none') || '; its corpus is at generation ' || o.generation
      FROM chunks c JOIN corpora o ON o.id = c.corpus_id
      WHERE c.born < 1 OR c.born > o.generation OR c.died < c.born OR c.died > o.generation OR (c.died IS NULL) <> (c.died_at IS NULL))sql"},
    {"generations", R"sql(
      SELECT 'version ' || v.version || ' of document ' || v.document_id || ' was born in ' || v.born || ' and died in ' || ifnull(v.died, 'none')
             || '; its corpus is at generation ' || o.generation
      FROM document_versions v JOIN corpora o ON o.id = v.corpus_id
      WHERE v.born < 1 OR v.born > o.generation OR v.died < v.born OR v.died > o.generation OR (v.died IS NULL) <> (v.died_at IS NULL))sql"},
    {"points", R"sql(
      SELECT 'chunk ' || c.id || ' is no point of its corpus' FROM chunks c
      LEFT JOIN points p ON p.chunk_id = c.id AND p.corpus_id = c.corpus_id WHERE p.chunk_id IS NULL)sql"},
    {"points", R"sql(
      SELECT 'corpus ' || p.corpus_id || ' has the point ' || hex(p.point_id) || ' ' || count(*) || ' times'
      FROM points p JOIN chunks c ON c.id = p.chunk_id WHERE c.died IS NULL GROUP BY p.corpus_id, p.point_id HAVING count(*) > 1)sql"},
    {"commits", R"sql(
      SELECT 'corpus ' || o.id || ' is at generation ' || o.generation || ', whose commit left no stamp'
      FROM corpora o LEFT JOIN commits k ON k.corpus_id = o.id AND k.generation = o.generation
      WHERE o.generation > 0 AND k.stamp IS NULL)sql"},
    {"corpus", R"sql(
      SELECT 'chunk ' || c.id || ' and its document ' || d.id || ' are in different corpora'
      FROM chunks c JOIN documents d ON d.id = c.document_id WHERE c.corpus_id <> d.corpus_id)sql"},
    {"corpus", R"sql(
      SELECT 'version ' || v.version || ' of document ' || d.id || ' is in another corpus than the document or its source'
      FROM document_versions v JOIN documents d ON d.id = v.document_id LEFT JOIN sources s ON s.id = v.source_id
      WHERE v.corpus_id <> d.corpus_id OR s.corpus_id <> v.corpus_id)sql"},
};

Result<void> run(sql::Database& database, const Check& check, std::vector<StoreFinding>& findings) {
  FOOTNOTE_TRY(auto query, database.prepare(check.query));
  for (std::size_t count = 0; count < kFindingsPerCheckMax; ++count) {
    FOOTNOTE_TRY(const bool more, query.step());
    if (!more) break;
    findings.push_back({std::string(check.name), std::string(query.text(0))});
  }
  return {};
}

/// Checks every page, and that tables and their indexes agree.
Result<void> integrity_check(sql::Database& database, std::vector<StoreFinding>& findings) {
  FOOTNOTE_TRY(auto query, database.prepare("PRAGMA integrity_check(20)"));
  return query.each([&](const sql::Statement& row) -> Result<void> {
    if (row.text(0) != "ok") findings.push_back({"integrity", std::string(row.text(0))});
    return {};
  });
}

}  // namespace

Result<std::vector<StoreFinding>> SqliteStore::check(const CallContext& call) const {
  return read(call, [](sql::Database& database) -> Result<std::vector<StoreFinding>> {
    std::vector<StoreFinding> findings;
    // A damaged file makes a query fail: report that as a finding and run the remaining checks.
    const auto note = [&](std::string_view name, Result<void> outcome) -> Result<void> {
      if (outcome) return {};
      if (outcome.error().code != ErrorCode::kCorrupted) return outcome;
      findings.push_back({std::string(name), outcome.error().message});
      return {};
    };
    FOOTNOTE_CHECK(note("integrity", integrity_check(database, findings)));
    for (const Check& check : kChecks) FOOTNOTE_CHECK(note(check.name, run(database, check, findings)));
    return findings;
  });
}

}  // namespace footnote
