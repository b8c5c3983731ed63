#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_path.h"
#include "domain/point.h"
#include "engine/sql/database.h"
#include "ports/chunk_store.h"

namespace footnote {

/// Between rows and points, for the classes of this folder.

/// Bytes whose order is that of the ids.
std::vector<std::byte> to_row(const PointId& id);
/// kCorrupted.
Result<PointId> point_id_from(std::span<const std::byte> bytes);

/// The payload of a passage: url, text, chunk_ix, ts, source, title, key, heading. Reads key, ordinal, indexed_at, source_kind,
/// attributes, heading_path, text from `first` on.
Result<std::string> passage_payload(const sql::Statement& row, int first);

/// Reads chunk_id, point_id, payload, born, key, ordinal, indexed_at, source_kind, attributes, heading_path, text from column 0 on.
Result<Point> point_from(const sql::Statement& row);

/// The key for a value that an index of that kind holds; nullopt for every other value.
std::optional<PayloadKey> payload_key_of(PayloadKind kind, const Json& value);

/// A declared key, ready to be looked for in payloads.
struct DeclaredKey {
  std::string field;
  PayloadKind kind;
  JsonPath path;
};

/// Writes the rows that make chunks of one corpus points, in a transaction of its caller. Borrows both.
class PointRows {
 public:
  PointRows(sql::Database& database, const Corpus& corpus) : database_(database), corpus_(corpus) {}

  /// kInvalidArgument: no JSON object, a vector that is not finite. kFailedPrecondition: a space that the corpus does not have, or
  /// another dimension.
  Result<void> check(const DocumentDraft& draft) const;
  /// The draft's chunk at `ordinal`, which has just been inserted. kAlreadyExists: a passage of a document has the point's id.
  Result<void> add(ChunkId chunk, const DocumentDraft& draft, int ordinal);

 private:
  Result<PointId> free_id(ChunkId chunk, const DocumentDraft& draft, int ordinal);
  Result<bool> is_taken(const PointId& id);
  Result<void> add_values(ChunkId chunk, const std::optional<PointDraft>& point);

  sql::Database& database_;
  const Corpus& corpus_;
  std::optional<std::vector<DeclaredKey>> declared_;  ///< Read when first needed.
};

/// Those keys of a corpus whose values are looked up.
Result<std::vector<DeclaredKey>> declared_keys(sql::Database& database, CorpusId corpus);
/// Writes down the values of these keys in one payload.
Result<void> add_payload_values(sql::Database& database, CorpusId corpus, ChunkId chunk, const std::vector<DeclaredKey>& keys,
                                std::string_view payload);

/// Fills in the vectors of further spaces. REQUIRES: `changes.added` holds all that was born in its generations.
Result<void> read_named_vectors(sql::Database& database, const Corpus& corpus, IndexChanges& changes);

/// Makes a point of every chunk that is none: those from before there were any.
Result<void> add_missing_points(sql::Database& database);

}  // namespace footnote
