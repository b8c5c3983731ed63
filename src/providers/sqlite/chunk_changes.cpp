// SqliteChunkStore::changes: what an index needs to catch up, in whole generations.
#include <algorithm>
#include <limits>

#include "providers/sqlite/point_rows.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

/// Iterates over (generation, rows) pairs in order, reading no further than needed.
class GenerationCounts {
 public:
  static Result<GenerationCounts> start(sql::Statement statement) {
    GenerationCounts counts(std::move(statement));
    FOOTNOTE_CHECK(counts.advance());
    return counts;
  }

  static constexpr Generation kNone = std::numeric_limits<Generation>::max();
  /// kNone at the end.
  Generation generation() const { return generation_; }
  std::size_t rows() const { return rows_; }

  Result<void> advance() {
    FOOTNOTE_TRY(const bool more, statement_.step());
    generation_ = more ? statement_.integer(0) : kNone;
    rows_ = more ? static_cast<std::size_t>(statement_.integer(1)) : 0;
    return {};
  }

 private:
  explicit GenerationCounts(sql::Statement statement) : statement_(std::move(statement)) {}

  sql::Statement statement_;
  Generation generation_ = kNone;
  std::size_t rows_ = 0;
};

/// A reader that starts from scratch never saw purged rows.
Generation purged_after(Generation after) { return after == 0 ? GenerationCounts::kNone - 1 : after; }

Result<std::vector<GenerationCounts>> start_counts(sql::Database& database, CorpusId corpus, Generation after) {
  std::vector<GenerationCounts> out;
  FOOTNOTE_TRY(auto born,
               database.prepare("SELECT born, count(*) FROM chunks WHERE corpus_id = ? AND born > ? GROUP BY born ORDER BY born"));
  born.bind(corpus.value, after);
  FOOTNOTE_TRY(auto births, GenerationCounts::start(std::move(born)));
  out.push_back(std::move(births));
  FOOTNOTE_TRY(auto died, database.prepare("SELECT died, count(*) FROM chunks WHERE corpus_id = ? AND died > ? AND died IS NOT NULL "
                                           "GROUP BY died ORDER BY died"));
  died.bind(corpus.value, after);
  FOOTNOTE_TRY(auto deaths, GenerationCounts::start(std::move(died)));
  out.push_back(std::move(deaths));
  FOOTNOTE_TRY(auto purged, database.prepare("SELECT died, count(*) FROM purged_chunks WHERE corpus_id = ? AND died > ? "
                                             "GROUP BY died ORDER BY died"));
  purged.bind(corpus.value, purged_after(after));
  FOOTNOTE_TRY(auto purges, GenerationCounts::start(std::move(purged)));
  out.push_back(std::move(purges));
  return out;
}

/// The generation at which a page of about `rows_max` rows after `after` ends; at least `end_min`.
Result<Generation> page_end(sql::Database& database, const Corpus& corpus, Generation after, Generation end_min, std::size_t rows_max) {
  FOOTNOTE_TRY(auto counts, start_counts(database, corpus.id, after));
  std::size_t rows = 0;
  for (bool first = true;; first = false) {
    const Generation next = std::ranges::min_element(counts, {}, &GenerationCounts::generation)->generation();
    if (next == GenerationCounts::kNone) return corpus.generation;
    for (GenerationCounts& count : counts) {
      if (count.generation() != next) continue;
      rows += count.rows();
      FOOTNOTE_CHECK(count.advance());
    }
    if (!first && rows > rows_max && next - 1 >= end_min) return next - 1;
  }
}

Result<void> read_added(sql::Database& database, const Corpus& corpus, IndexChanges& changes) {
  FOOTNOTE_TRY(auto select, database.prepare(R"sql(
    SELECT c.id, c.document_id, c.document_version, c.born, c.heading_path, c.symbol, c.text, v.windows, v.vectors,
           c.source_type
    FROM chunks c LEFT JOIN chunk_vectors v ON v.chunk_id = c.id
    WHERE c.corpus_id = ? AND c.born > ? AND c.born <= ?
    ORDER BY c.born, c.id)sql"));
  select.bind(corpus.id.value, changes.from, changes.to);
  DocumentLookup documents(database, nullptr);
  return select.each([&](const sql::Statement& row) -> Result<void> {
    FOOTNOTE_TRY(const auto* document, documents.find(row.integer(1), row.integer(2)));
    FOOTNOTE_TRY(auto heading_path, texts_from_stored_text(row.text(4)));
    std::vector<std::vector<float>> vectors;
    if (!row.is_null(7)) {
      FOOTNOTE_TRY(vectors, unpack_vectors(row.blob(8), row.integer(7), corpus.space.dimension));
    }
    changes.added.push_back({.chunk = {row.integer(0)},
                             .document = {row.integer(1)},
                             .born = row.integer(3),
                             .document_key = document->key,
                             .attributes = document->attributes,
                             .heading_path = std::move(heading_path),
                             .symbol = std::string(row.text(5)),
                             .text = std::string(row.text(6)),
                             .vectors = std::move(vectors),
                             .source_type = std::string(row.text(9)),
                             .indexed_at = document->indexed_at});
    return {};
  });
}

Result<void> read_removed(sql::Database& database, CorpusId corpus, IndexChanges& changes) {
  const auto take = [&](const sql::Statement& row) -> Result<void> {
    changes.removed.push_back({.chunk = {row.integer(0)}, .died = row.integer(1)});
    return {};
  };
  FOOTNOTE_TRY(auto died,
               database.prepare("SELECT id, died FROM chunks WHERE corpus_id = ? AND died > ? AND died <= ? AND died IS NOT NULL"));
  died.bind(corpus.value, changes.from, changes.to);
  FOOTNOTE_CHECK(died.each(take));
  FOOTNOTE_TRY(auto purged, database.prepare("SELECT chunk_id, died FROM purged_chunks WHERE corpus_id = ? AND died > ? AND died <= ?"));
  purged.bind(corpus.value, purged_after(changes.from), changes.to);
  FOOTNOTE_CHECK(purged.each(take));
  std::ranges::sort(changes.removed, {}, [](const IndexRemoval& removal) { return std::pair(removal.died, removal.chunk); });
  return {};
}

}  // namespace

Result<IndexChanges> SqliteChunkStore::changes(const CallContext& call, CorpusId corpus, Generation after, std::size_t rows_max) const {
  return store_.read(call, [&](sql::Database& database) -> Result<IndexChanges> {
    FOOTNOTE_TRY(const auto row, read_corpus(database, corpus));
    const bool deaths_forgotten = after != 0 && after < row.deaths_known_after;
    if (after < 0 || after > row.corpus.generation || deaths_forgotten) {
      return fail(ErrorCode::kFailedPrecondition, "the changes of corpus '{}' after generation {} are no longer known: read from 0",
                  row.corpus.name, after);
    }
    // A page that starts from scratch must reach past the forgotten deaths: the next page could not.
    FOOTNOTE_TRY(const Generation to, page_end(database, row.corpus, after, row.deaths_known_after, rows_max));
    IndexChanges changes{.from = after, .to = to};
    FOOTNOTE_CHECK(read_added(database, row.corpus, changes));
    FOOTNOTE_CHECK(read_named_vectors(database, row.corpus, changes));
    FOOTNOTE_CHECK(read_removed(database, corpus, changes));
    return changes;
  });
}

}  // namespace footnote
