#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_path.h"
#include "domain/point.h"
#include "engine/sql/database.h"
#include "ports/chunk_store.h"

namespace footnote {

/// Conversions between rows and points, for the classes of this directory.

/// Bytes that sort like the ids.
std::vector<std::byte> to_row(const PointId& id);
/// kCorrupted.
Result<PointId> point_id_from(std::span<const std::byte> bytes);

/// The payload of a passage: url, text, chunk_ix, ts, source, title, key, heading. Reads columns key, ordinal, indexed_at, source_kind,
/// attributes, heading_path, text from `first` on.
Result<std::string> passage_payload(const sql::Statement& row, int first);

/// Reads columns chunk_id, point_id, payload, born, key, ordinal, indexed_at, source_kind, attributes, heading_path, text from 0 on.
Result<Point> point_from(const sql::Statement& row);

/// The lookup key of a value in an index of that kind; nullopt for values that such an index does not hold.
std::optional<PayloadKey> payload_key_of(PayloadKind kind, const Json& value);

/// A declared payload key, ready for lookups in payloads.
struct DeclaredKey {
  std::string field;
  PayloadKind kind;
  JsonPath path;
};

/// Writes the rows that make chunks of one corpus points, in the caller's transaction. Borrows both.
class PointRows {
 public:
  PointRows(sql::Database& database, const Corpus& corpus) : database_(database), corpus_(corpus) {}

  /// kInvalidArgument: not a JSON object, or a vector that is not finite. kFailedPrecondition: the corpus has no such space, or another
  /// dimension.
  Result<void> check(const DocumentDraft& draft) const;
  /// Adds the draft's chunk at `ordinal`, which has just been inserted. kAlreadyExists: a passage of a document has the point's id.
  Result<void> add(ChunkId chunk, const DocumentDraft& draft, int ordinal);

 private:
  Result<PointId> free_id(ChunkId chunk, const DocumentDraft& draft, int ordinal);
  Result<bool> is_taken(const PointId& id);
  Result<void> add_values(ChunkId chunk, const std::optional<PointDraft>& point);

  sql::Database& database_;
  const Corpus& corpus_;
  std::optional<std::vector<DeclaredKey>> declared_;  ///< Read on first use.
};

/// The declared keys of a corpus that are used for lookups.
Result<std::vector<DeclaredKey>> declared_keys(sql::Database& database, CorpusId corpus);
/// Stores the values of these keys in one payload.
Result<void> add_payload_values(sql::Database& database, CorpusId corpus, ChunkId chunk, const std::vector<DeclaredKey>& keys,
                                std::string_view payload);

/// Reads the vectors of the named spaces. REQUIRES: `changes.added` holds all rows born in its generations.
Result<void> read_named_vectors(sql::Database& database, const Corpus& corpus, IndexChanges& changes);

/// Makes a point of every chunk without one: those from before points existed.
Result<void> add_missing_points(sql::Database& database);

}  // namespace footnote
