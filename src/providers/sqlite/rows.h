#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "domain/catalog.h"
#include "domain/document.h"
#include "domain/token_codes.h"
#include "engine/sql/database.h"
#include "providers/sqlite/document_cache.h"

namespace footnote {

/// Conversions between rows and domain values, for the classes of this directory.

inline std::int64_t to_row(UtcTime time) { return time.time_since_epoch().count(); }
inline std::optional<std::int64_t> to_row(const std::optional<UtcTime>& time) { return time ? std::optional(to_row(*time)) : std::nullopt; }
inline UtcTime time_from(std::int64_t milliseconds) { return UtcTime{std::chrono::milliseconds{milliseconds}}; }
inline std::optional<UtcTime> time_from(const std::optional<std::int64_t>& milliseconds) {
  return milliseconds ? std::optional(time_from(*milliseconds)) : std::nullopt;
}
/// Id 0 means none, stored as NULL.
template <class Tag>
std::optional<std::int64_t> to_row(Id<Tag> id) {
  return id ? std::optional(id.value) : std::nullopt;
}
/// SQL's LIMIT for a count that may mean "all".
std::int64_t limit_of(std::size_t count);

struct CorpusRow {
  Corpus corpus;
  Generation deaths_known_after = 0;  ///< Deaths up to this generation may no longer be known.
};
/// Reads columns id, workspace_id, name, model_id, dimension, generation, created_at, distance, named_spaces from 0 on.
Result<Corpus> corpus_from(const sql::Statement& row);
/// kNotFound, also if it was deleted.
Result<CorpusRow> read_corpus(sql::Database& database, CorpusId id);
/// Like read_corpus(), without reading its columns.
Result<void> check_corpus(sql::Database& database, CorpusId id);

/// Reads columns id, corpus_id, key, version, source_id, content_hash, attributes, chunk_count, indexed_at from `first` on.
Result<Document> document_from(const sql::Statement& row, int first = 0);
/// Reads columns id, document_id, document_version, ordinal, born, died, range_begin, range_end, first_line, last_line, content_hash,
/// source_type, symbol, heading_path, text, places from 0 on.
Result<Chunk> chunk_from(const sql::Statement& row);

/// "page 0:12 340:13"; empty if the text is the file's own and counted in lines.
std::string to_stored_text(const Places& places);
Result<Places> places_from_stored_text(std::string_view text);

/// Vectors of one dimension, concatenated, as stored.
std::vector<std::byte> pack_vectors(std::span<const std::vector<float>> vectors);
/// kCorrupted unless the bytes are `windows` vectors of `dimension` numbers, at least one.
Result<std::vector<std::vector<float>>> unpack_vectors(std::span<const std::byte> bytes, std::int64_t windows, int dimension);

/// Reads columns form, dimension, windows, signs from `first` on; no codes if they are NULL. kCorrupted if they are truncated.
Result<PassageCodes> codes_from(const sql::Statement& row, int first);

/// Stored texts of a corpus's calibration ("" for none) and of its named spaces.
std::string to_stored_text(const std::optional<GateCalibration>& gate);
Result<std::optional<GateCalibration>> gate_from_stored_text(std::string_view text);
std::string to_stored_text(const std::vector<NamedSpace>& spaces);
Result<std::vector<NamedSpace>> named_spaces_from_stored_text(std::string_view text);

/// Key and attributes of document versions. Remembers the last one: chunks of one version come consecutively.
class DocumentLookup {
 public:
  /// `cache` may be null: for callers that read each version once.
  DocumentLookup(sql::Database& database, DocumentCache* cache) : database_(database), cache_(cache) {}
  /// Valid until the next call. kCorrupted if there is no such version.
  Result<const VersionFacts*> find(std::int64_t document, std::int64_t version);

 private:
  Result<std::shared_ptr<const VersionFacts>> read(std::int64_t document, std::int64_t version);

  sql::Database& database_;
  DocumentCache* const cache_;
  std::int64_t document_ = 0;
  std::int64_t version_ = 0;
  std::shared_ptr<const VersionFacts> facts_;
};

}  // namespace footnote
