#include "providers/sqlite/sqlite_reembedding.h"

#include <algorithm>
#include <cmath>

#include "providers/sqlite/enum_names.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {
namespace {

/// Rows deleted per transaction.
constexpr std::int64_t kDiscardRowsMax = 1000;

Result<void> check_vectors(const EmbeddingSpace& target, const SqliteReembedding::NextVectors& next) {
  const auto is_good = [&](const std::vector<float>& vector) {
    return std::ssize(vector) == target.dimension && std::ranges::all_of(vector, [](float number) { return std::isfinite(number); });
  };
  if (!next.vectors.empty() && std::ranges::all_of(next.vectors, is_good) && is_whole(next.codes)) return {};
  return fail_field(ErrorCode::kInvalidArgument, "vectors", "chunk {} needs vectors of {} finite numbers and whole codes", next.chunk.value,
                    target.dimension);
}

Result<std::int64_t> count_missing(sql::Database& database, CorpusId corpus, const EmbeddingSpace& target) {
  FOOTNOTE_TRY(auto count, database.prepare(R"sql(
    SELECT count(*) FROM chunks c WHERE c.corpus_id = ?1 AND NOT EXISTS
      (SELECT 1 FROM next_vectors n WHERE n.chunk_id = c.id AND n.model_id = ?2 AND n.dimension = ?3))sql"));
  count.bind(corpus.value, target.model_id, target.dimension);
  FOOTNOTE_CHECK(count.step());
  return count.integer(0);
}

Result<std::vector<SqliteReembedding::Missing>> read_chunks(sql::Statement& select) {
  std::vector<SqliteReembedding::Missing> out;
  auto read = select.each([&](const sql::Statement& row) -> Result<void> {
    FOOTNOTE_TRY(auto heading_path, texts_from_stored_text(row.text(1)));
    out.push_back({{row.integer(0)}, std::move(heading_path), std::string(row.text(2))});
    return {};
  });
  FOOTNOTE_CHECK(std::move(read));
  return out;
}

}  // namespace

Result<SqliteReembedding::Progress> SqliteReembedding::progress(const CallContext& call, CorpusId corpus,
                                                                const EmbeddingSpace& target) const {
  return store_.read(call, [&](sql::Database& database) -> Result<Progress> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto count, database.prepare("SELECT count(*) FROM chunks WHERE corpus_id = ?"));
    count.bind(corpus.value);
    FOOTNOTE_CHECK(count.step());
    const std::int64_t total = count.integer(0);
    FOOTNOTE_TRY(const std::int64_t missing, count_missing(database, corpus, target));
    return Progress{.done = total - missing, .total = total};
  });
}

Result<std::vector<SqliteReembedding::Missing>> SqliteReembedding::missing(const CallContext& call, CorpusId corpus,
                                                                           const EmbeddingSpace& target, ChunkId after,
                                                                           std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Missing>> {
    FOOTNOTE_TRY(auto select, database.prepare(R"sql(
      SELECT c.id, c.heading_path, c.text FROM chunks c WHERE c.corpus_id = ?1 AND c.id > ?5 AND NOT EXISTS
        (SELECT 1 FROM next_vectors n WHERE n.chunk_id = c.id AND n.model_id = ?2 AND n.dimension = ?3)
      ORDER BY c.id LIMIT ?4)sql"));
    select.bind(corpus.value, target.model_id, target.dimension, limit_of(limit), after.value);
    return read_chunks(select);
  });
}

Result<void> SqliteReembedding::put(const CallContext& call, const EmbeddingSpace& target, std::span<const NextVectors> vectors) {
  for (const NextVectors& next : vectors) FOOTNOTE_CHECK(check_vectors(target, next));
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
      INSERT OR REPLACE INTO next_vectors (chunk_id, model_id, dimension, windows, vectors, form, code_dimension, code_windows, signs)
      SELECT id, ?2, ?3, ?4, ?5, nullif(?6, 0), ?7, ?8, ?9 FROM chunks WHERE id = ?1)sql"));
    for (const NextVectors& next : vectors) {
      insert.bind(next.chunk.value, target.model_id, target.dimension, next.vectors.size(),
                  std::span<const std::byte>(pack_vectors(next.vectors)), next.codes.form, next.codes.dimension,
                  std::as_bytes(std::span(next.codes.windows)), std::span<const std::byte>(next.codes.signs));
      FOOTNOTE_CHECK(insert.run());
    }
    return {};
  });
}

Result<bool> SqliteReembedding::switch_over(const CallContext& call, CorpusId corpus, const EmbeddingSpace& target) {
  auto switched = store_.write(call, [&](sql::Database& database) -> Result<bool> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(const std::int64_t missing, count_missing(database, corpus, target));
    if (missing > 0) return false;
    FOOTNOTE_TRY(auto vectors, database.prepare(R"sql(
      INSERT OR REPLACE INTO chunk_vectors (chunk_id, windows, vectors)
      SELECT n.chunk_id, n.windows, n.vectors FROM chunks c JOIN next_vectors n ON n.chunk_id = c.id
      WHERE c.corpus_id = ?1 AND n.model_id = ?2 AND n.dimension = ?3)sql"));
    vectors.bind(corpus.value, target.model_id, target.dimension);
    FOOTNOTE_CHECK(vectors.run());
    FOOTNOTE_TRY(auto old_codes, database.prepare("DELETE FROM chunk_codes WHERE chunk_id IN (SELECT id FROM chunks WHERE corpus_id = ?)"));
    old_codes.bind(corpus.value);
    FOOTNOTE_CHECK(old_codes.run());
    FOOTNOTE_TRY(auto codes, database.prepare(R"sql(
      INSERT INTO chunk_codes (chunk_id, corpus_id, form, dimension, windows, signs)
      SELECT n.chunk_id, c.corpus_id, n.form, n.code_dimension, n.code_windows, n.signs FROM chunks c JOIN next_vectors n ON n.chunk_id = c.id
      WHERE c.corpus_id = ?1 AND n.model_id = ?2 AND n.dimension = ?3 AND n.form IS NOT NULL)sql"));
    codes.bind(corpus.value, target.model_id, target.dimension);
    FOOTNOTE_CHECK(codes.run());
    FOOTNOTE_TRY(auto space, database.prepare("UPDATE corpora SET model_id = ?2, dimension = ?3, distance = ?4 WHERE id = ?1"));
    space.bind(corpus.value, target.model_id, target.dimension, stored_name(target.distance));
    FOOTNOTE_CHECK(space.run());
    return true;
  });
  if (!switched || !*switched) return switched;
  // The rest is useless; if this fails, the next rebuild deletes it.
  (void)discard(call, corpus);
  return true;
}

Result<std::int64_t> SqliteReembedding::count_other_codes(const CallContext& call, CorpusId corpus, std::uint32_t form) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::int64_t> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto count, database.prepare(R"sql(
      SELECT count(*) FROM chunks c LEFT JOIN chunk_codes k ON k.chunk_id = c.id
      WHERE c.corpus_id = ?1 AND (c.text <> '' OR k.form IS NOT NULL) AND k.form IS NOT ?2)sql"));
    count.bind(corpus.value, form);
    FOOTNOTE_CHECK(count.step());
    return count.integer(0);
  });
}

Result<std::vector<SqliteReembedding::Missing>> SqliteReembedding::other_codes(const CallContext& call, CorpusId corpus, std::uint32_t form,
                                                                               ChunkId after, std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Missing>> {
    FOOTNOTE_TRY(auto select, database.prepare(R"sql(
      SELECT c.id, c.heading_path, c.text FROM chunks c LEFT JOIN chunk_codes k ON k.chunk_id = c.id
      WHERE c.corpus_id = ?1 AND c.id > ?2 AND (c.text <> '' OR k.form IS NOT NULL) AND k.form IS NOT ?3 ORDER BY c.id LIMIT ?4)sql"));
    select.bind(corpus.value, after.value, form, limit_of(limit));
    return read_chunks(select);
  });
}

Result<void> SqliteReembedding::put_codes(const CallContext& call, std::span<const NextCodes> codes) {
  for (const NextCodes& next : codes) {
    if (next.codes.form != 0 && is_whole(next.codes)) continue;
    return fail_field(ErrorCode::kInvalidArgument, "codes", "chunk {} needs whole token codes", next.chunk.value);
  }
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(auto insert, database.prepare(R"sql(
      INSERT OR REPLACE INTO chunk_codes (chunk_id, corpus_id, form, dimension, windows, signs)
      SELECT id, corpus_id, ?2, ?3, ?4, ?5 FROM chunks WHERE id = ?1)sql"));
    for (const NextCodes& next : codes) {
      insert.bind(next.chunk.value, next.codes.form, next.codes.dimension, std::as_bytes(std::span(next.codes.windows)),
                  std::span<const std::byte>(next.codes.signs));
      FOOTNOTE_CHECK(insert.run());
    }
    return {};
  });
}

Result<void> SqliteReembedding::discard(const CallContext& call, CorpusId corpus) {
  for (;;) {
    FOOTNOTE_CHECK(call.check());
    FOOTNOTE_TRY(const std::int64_t erased, store_.write(call, [&](sql::Database& database) -> Result<std::int64_t> {
      FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM next_vectors WHERE rowid IN (SELECT n.rowid FROM next_vectors n "
                                                "JOIN chunks c ON c.id = n.chunk_id WHERE c.corpus_id = ? LIMIT ?)"));
      erase.bind(corpus.value, kDiscardRowsMax);
      FOOTNOTE_CHECK(erase.run());
      FOOTNOTE_TRY(auto count, database.prepare("SELECT changes()"));
      FOOTNOTE_CHECK(count.step());
      return count.integer(0);
    }));
    if (erased < kDiscardRowsMax) return {};
  }
}

}  // namespace footnote
