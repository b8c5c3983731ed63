// SqlitePointStore: points by id, by chunk and by the values of their payloads.
#include "providers/sqlite/sqlite_point_store.h"

#include <algorithm>

#include "providers/sqlite/point_rows.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

/// Reads vectors of points with one prepared statement.
class VectorReader {
 public:
  VectorReader(sql::Database& database, const Corpus& corpus) : database_(database), corpus_(corpus) {}

  Result<void> read(Point& point) {
    FOOTNOTE_TRY(auto own, database_.prepare("SELECT windows, vectors FROM chunk_vectors WHERE chunk_id = ?"));
    own.bind(point.chunk.value);
    FOOTNOTE_TRY(const bool found, own.step());
    if (found) {
      FOOTNOTE_TRY(auto windows, unpack_vectors(own.blob(1), own.integer(0), corpus_.space.dimension));
      point.vector = std::move(windows.front());
    }
    if (corpus_.named_spaces.empty()) return {};
    FOOTNOTE_TRY(auto named, database_.prepare("SELECT name, vector FROM point_vectors WHERE chunk_id = ?"));
    named.bind(point.chunk.value);
    return named.each([&](const sql::Statement& row) -> Result<void> {
      const auto space = std::ranges::find(corpus_.named_spaces, row.text(0), &NamedSpace::name);
      if (space == corpus_.named_spaces.end()) return damaged_text("a point's vector");
      FOOTNOTE_TRY(auto vectors, unpack_vectors(row.blob(1), 1, space->dimension));
      point.named_vectors.emplace(space->name, std::move(vectors.front()));
      return {};
    });
  }

 private:
  sql::Database& database_;
  const Corpus& corpus_;
};

Result<Point> read_point(const sql::Statement& row, VectorReader& reader, PointVectors vectors) {
  FOOTNOTE_TRY(Point point, point_from(row));
  if (vectors == PointVectors::kRead) FOOTNOTE_CHECK(reader.read(point));
  return point;
}

/// Passes one row to a visitor.
Result<void> show(const PointVisitor& visitor, ChunkId chunk, std::span<const std::byte> id, std::string_view names,
                  std::string_view payload) {
  FOOTNOTE_TRY(const PointId point, point_id_from(id));
  std::vector<std::string> owned;
  if (names == R"([""])") {
    owned.emplace_back();  // the common case
  } else {
    FOOTNOTE_TRY(owned, texts_from_stored_text(names));
  }
  const std::vector<std::string_view> views(owned.begin(), owned.end());
  return visitor({.chunk = chunk, .id = point, .payload = payload, .vectors = views});
}

Result<void> show_record(const sql::Statement& row, const PointVisitor& visitor) {
  // chunk_id, point_id, vector_names, payload, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
  if (!row.is_null(3)) return show(visitor, {row.integer(0)}, row.blob(1), row.text(2), row.text(3));
  FOOTNOTE_TRY(const std::string payload, passage_payload(row, 4));
  return show(visitor, {row.integer(0)}, row.blob(1), row.text(2), payload);
}

Result<void> visit_some(sql::Database& database, CorpusId corpus, Generation generation, const std::vector<ChunkId>& among,
                        const PointVisitor& visitor) {
  FOOTNOTE_TRY(auto find, database.prepare(R"sql(
    SELECT chunk_id, point_id, vector_names, payload, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
    FROM point_records WHERE chunk_id = ?1 AND +corpus_id = ?2 AND born <= ?3 AND (died IS NULL OR died > ?3))sql"));
  for (const ChunkId chunk : among) {
    find.bind(chunk.value, corpus.value, generation);
    FOOTNOTE_TRY(const bool found, find.step());
    if (found) FOOTNOTE_CHECK(show_record(find, visitor));
  }
  return {};
}

Result<void> visit_all(sql::Database& database, CorpusId corpus, Generation generation, const PointVisitor& visitor) {
  // External points have everything in their own row; only passages need their documents.
  FOOTNOTE_TRY(auto points, database.prepare(R"sql(
    SELECT p.chunk_id, p.point_id, p.vector_names, p.payload FROM points p JOIN chunks c ON c.id = p.chunk_id
    WHERE p.corpus_id = ?1 AND p.payload IS NOT NULL AND c.born <= ?2 AND (c.died IS NULL OR c.died > ?2))sql"));
  points.bind(corpus.value, generation);
  FOOTNOTE_CHECK(points.each(
      [&](const sql::Statement& row) -> Result<void> { return show(visitor, {row.integer(0)}, row.blob(1), row.text(2), row.text(3)); }));
  FOOTNOTE_TRY(auto passages, database.prepare(R"sql(
    SELECT chunk_id, point_id, vector_names, payload, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
    FROM point_records WHERE corpus_id = ?1 AND payload IS NULL AND born <= ?2 AND (died IS NULL OR died > ?2))sql"));
  passages.bind(corpus.value, generation);
  return passages.each([&](const sql::Statement& row) { return show_record(row, visitor); });
}

/// Whether an index of that kind holds such a value.
bool fits(PayloadKind kind, const PayloadKey& value) {
  switch (kind) {
    case PayloadKind::kKeyword: return std::holds_alternative<std::string>(value);
    // Texts that are not a canonical UUID are compared as written, not through the index.
    case PayloadKind::kUuid: {
      const auto* text = std::get_if<std::string>(&value);
      const auto uuid = text != nullptr ? parse_uuid(*text) : std::nullopt;
      return uuid && to_string(*uuid) == *text;
    }
    case PayloadKind::kInteger: return std::holds_alternative<std::int64_t>(value);
    case PayloadKind::kBool: return std::holds_alternative<bool>(value);
    case PayloadKind::kFloat:
    case PayloadKind::kGeo:
    case PayloadKind::kText:
    case PayloadKind::kDatetime: return false;
  }
  return false;
}

Result<std::optional<PayloadKind>> declared_kind(sql::Database& database, CorpusId corpus, std::string_view field) {
  FOOTNOTE_TRY(auto find, database.prepare("SELECT kind FROM payload_indexes WHERE corpus_id = ? AND field = ?"));
  find.bind(corpus.value, field);
  FOOTNOTE_TRY(const bool found, find.step());
  return found ? parse_payload_kind(find.text(0)) : std::nullopt;
}

}  // namespace

Result<std::vector<Point>> SqlitePointStore::points(const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                                    PointVectors vectors) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Point>> {
    FOOTNOTE_TRY(const auto known, read_corpus(database, corpus));
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT chunk_id, point_id, payload, born, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
      FROM point_records WHERE corpus_id = ? AND point_id = ? AND died IS NULL)sql"));
    VectorReader reader(database, known.corpus);
    std::vector<Point> out;
    for (const PointId& id : ids) {
      find.bind(corpus.value, std::span<const std::byte>(to_row(id)));
      FOOTNOTE_TRY(const bool found, find.step());
      if (!found) continue;
      FOOTNOTE_TRY(Point point, read_point(find, reader, vectors));
      out.push_back(std::move(point));
    }
    return out;
  });
}

Result<std::vector<Point>> SqlitePointStore::points_of(const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                                       PointVectors vectors) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Point>> {
    FOOTNOTE_TRY(const auto known, read_corpus(database, corpus));
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT chunk_id, point_id, payload, born, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
      FROM point_records WHERE chunk_id = ? AND +corpus_id = ?)sql"));
    VectorReader reader(database, known.corpus);
    std::vector<Point> out;
    out.reserve(chunks.size());
    for (const ChunkId chunk : chunks) {
      find.bind(chunk.value, corpus.value);
      FOOTNOTE_TRY(const bool found, find.step());
      if (!found) continue;
      FOOTNOTE_TRY(Point point, read_point(find, reader, vectors));
      out.push_back(std::move(point));
    }
    return out;
  });
}

Result<std::vector<Point>> SqlitePointStore::scroll(const CallContext& call, CorpusId corpus, const std::optional<PointId>& from,
                                                    std::size_t limit, PointVectors vectors) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Point>> {
    FOOTNOTE_TRY(const auto known, read_corpus(database, corpus));
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT chunk_id, point_id, payload, born, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
      FROM point_records WHERE corpus_id = ? AND point_id >= ? AND died IS NULL ORDER BY point_id LIMIT ?)sql"));
    const std::vector<std::byte> first = from ? to_row(*from) : std::vector<std::byte>{};
    list.bind(corpus.value, std::span<const std::byte>(first), limit_of(limit));
    VectorReader reader(database, known.corpus);
    return list.collect<Point>([&](const sql::Statement& row) { return read_point(row, reader, vectors); });
  });
}

Result<void> SqlitePointStore::each(const CallContext& call, CorpusId corpus, const std::function<Result<void>(const Point&)>& take) const {
  return store_.read(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_TRY(const auto known, read_corpus(database, corpus));
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT chunk_id, point_id, payload, born, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
      FROM point_records WHERE corpus_id = ? AND died IS NULL ORDER BY point_id)sql"));
    list.bind(corpus.value);
    VectorReader reader(database, known.corpus);
    return list.each([&](const sql::Statement& row) -> Result<void> {
      FOOTNOTE_TRY(const Point point, read_point(row, reader, PointVectors::kRead));
      return take(point);
    });
  });
}

Result<void> SqlitePointStore::visit(const CallContext& call, CorpusId corpus, Generation generation, const std::vector<ChunkId>* among,
                                     const PointVisitor& visitor) const {
  return store_.read(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    if (among != nullptr) return visit_some(database, corpus, generation, *among, visitor);
    return visit_all(database, corpus, generation, visitor);
  });
}

Result<std::optional<std::vector<ChunkId>>> SqlitePointStore::looked_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                                        std::string_view field, std::span<const PayloadKey> values) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::optional<std::vector<ChunkId>>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(const auto kind, declared_kind(database, corpus, field));
    if (!kind || !std::ranges::all_of(values, [&](const PayloadKey& value) { return fits(*kind, value); })) return std::nullopt;
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT c.id FROM payload_values v JOIN chunks c ON c.id = v.chunk_id
      WHERE v.corpus_id = ?1 AND v.field = ?2 AND v.value = ?3 AND c.born <= ?4 AND (c.died IS NULL OR c.died > ?4))sql"));
    std::vector<ChunkId> out;
    for (const PayloadKey& value : values) {
      std::visit([&](const auto& known) { find.bind(corpus.value, field, known, generation); }, value);
      FOOTNOTE_CHECK(find.each([&](const sql::Statement& row) -> Result<void> {
        out.push_back({row.integer(0)});
        return {};
      }));
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  });
}

Result<void> SqlitePointStore::put_index(const CallContext& call, CorpusId corpus, const PayloadIndex& index) {
  FOOTNOTE_TRY(const JsonPath path, parse_json_path(index.field));
  return store_.write(call, [&](sql::Database& database) -> Result<void> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto erase, database.prepare("DELETE FROM payload_values WHERE corpus_id = ? AND field = ?"));
    erase.bind(corpus.value, index.field);
    FOOTNOTE_CHECK(erase.run());
    FOOTNOTE_TRY(auto insert,
                 database.prepare("INSERT OR REPLACE INTO payload_indexes (corpus_id, field, kind, schema) VALUES (?, ?, ?, ?)"));
    insert.bind(corpus.value, index.field, to_string(index.kind), index.schema);
    FOOTNOTE_CHECK(insert.run());
    if (!is_looked_up(index.kind)) return {};
    const std::vector<DeclaredKey> keys{{index.field, index.kind, path}};
    // Includes dead ones: readers of older generations use the same table.
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT chunk_id, point_id, vector_names, payload, key, ordinal, indexed_at, source_kind, attributes, heading_path, text
      FROM point_records WHERE corpus_id = ?)sql"));
    list.bind(corpus.value);
    return list.each([&](const sql::Statement& row) {
      return show_record(row,
                         [&](const PointView& point) { return add_payload_values(database, corpus, point.chunk, keys, point.payload); });
    });
  });
}

Result<bool> SqlitePointStore::delete_index(const CallContext& call, CorpusId corpus, std::string_view field) {
  return store_.write(call, [&](sql::Database& database) -> Result<bool> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto values, database.prepare("DELETE FROM payload_values WHERE corpus_id = ? AND field = ?"));
    values.bind(corpus.value, field);
    FOOTNOTE_CHECK(values.run());
    FOOTNOTE_TRY(auto index, database.prepare("DELETE FROM payload_indexes WHERE corpus_id = ? AND field = ?"));
    index.bind(corpus.value, field);
    FOOTNOTE_CHECK(index.run());
    return database.changed_rows() > 0;
  });
}

Result<std::vector<PayloadIndex>> SqlitePointStore::indexes(const CallContext& call, CorpusId corpus) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<PayloadIndex>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto list, database.prepare("SELECT field, kind, schema FROM payload_indexes WHERE corpus_id = ? ORDER BY field"));
    list.bind(corpus.value);
    std::vector<PayloadIndex> out;
    auto done = list.each([&](const sql::Statement& row) -> Result<void> {
      const auto kind = parse_payload_kind(row.text(1));
      if (!kind) return damaged_text("a declared key");
      out.push_back({std::string(row.text(0)), *kind, std::string(row.text(2))});
      return {};
    });
    FOOTNOTE_CHECK(std::move(done));
    return out;
  });
}

}  // namespace footnote
