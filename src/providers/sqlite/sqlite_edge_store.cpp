#include "providers/sqlite/sqlite_edge_store.h"

#include <algorithm>

#include "base/json.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

/// Weights are stored as REAL and read as thousandths.
constexpr double kThousandths = 1000;

/// The live document that a reference means; empty: there is none.
Result<std::string> live_key(sql::Database& database, CorpusId corpus, const Edge& edge) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT 1 FROM documents WHERE corpus_id = ? AND key = ? AND deleted_at IS NULL"));
  for (const std::string& key : meanings_of(edge.from_key, edge.to_key)) {
    find.bind(corpus.value, key);
    FOOTNOTE_TRY(const bool found, find.step());
    if (found) return key;
  }
  return std::string();
}

}  // namespace

Result<std::vector<Edge>> SqliteEdgeStore::edges_from(const CallContext& call, CorpusId corpus, std::span<const std::string> keys,
                                                      std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Edge>> {
    FOOTNOTE_CHECK(check_corpus(database, corpus));
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT from_key, to_key, type, provenance, CAST(weight * 1000 AS INTEGER), id FROM (
        SELECT from_key, to_key, type, provenance, weight, id FROM edges
        WHERE corpus_id = ?1 AND died IS NULL AND from_key IN (SELECT value FROM json_each(?2))
        UNION ALL
        SELECT from_key, to_key, type, 'api', weight, id FROM added_edges
        WHERE corpus_id = ?1 AND from_key IN (SELECT value FROM json_each(?2)))
      ORDER BY weight DESC, id LIMIT ?3)sql"));
    list.bind(corpus.value, to_stored_text(std::vector<std::string>(keys.begin(), keys.end())), limit_of(limit));
    FOOTNOTE_TRY(auto edges, list.collect<Edge>([](const sql::Statement& row) {
      return Edge{.from_key = std::string(row.text(0)),
                  .to_key = std::string(row.text(1)),
                  .type = std::string(row.text(2)),
                  .provenance = std::string(row.text(3)),
                  .weight = static_cast<double>(row.integer(4)) / kThousandths};
    }));
    for (Edge& edge : edges) {
      FOOTNOTE_TRY(edge.to_key, live_key(database, corpus, edge));
    }
    std::erase_if(edges, [](const Edge& edge) { return edge.to_key.empty() || edge.to_key == edge.from_key; });
    return edges;
  });
}

Result<void> SqliteEdgeStore::put_edge(const CallContext& call, CorpusId corpus, const Edge& edge) {
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(check_corpus(database, corpus));
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM added_edges WHERE corpus_id = ?"));
    count.bind(corpus.value);
    FOOTNOTE_CHECK(count.step());
    if (count.integer(0) >= static_cast<std::int64_t>(kAddedEdgesMax)) {
      return fail(ErrorCode::kResourceExhausted, "the corpus has {} added edges, which is the limit; remove some", kAddedEdgesMax);
    }
    FOOTNOTE_TRY(auto put, database.prepare("INSERT INTO added_edges (corpus_id, from_key, to_key, type, weight) VALUES (?, ?, ?, ?, ?) "
                                            "ON CONFLICT (corpus_id, from_key, to_key, type) DO UPDATE SET weight = excluded.weight"));
    put.bind(corpus.value, edge.from_key, edge.to_key, edge.type, edge.weight);
    return put.run();
  });
}

Result<bool> SqliteEdgeStore::remove_edge(const CallContext& call, CorpusId corpus, const Edge& edge) {
  return store_.write(call, [&](sql::Database& database) -> Result<bool> {
    FOOTNOTE_CHECK(check_corpus(database, corpus));
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM added_edges WHERE corpus_id = ? AND from_key = ? AND to_key = ? AND type = ?"));
    erase.bind(corpus.value, edge.from_key, edge.to_key, edge.type);
    FOOTNOTE_CHECK(erase.run());
    return database.changed_rows() > 0;
  });
}

}  // namespace footnote
