// SqliteChunkStore::commit: adds and removes documents, one generation at a time.
#include <cmath>
#include <set>

#include "providers/sqlite/generation_rows.h"
#include "providers/sqlite/point_rows.h"
#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

/// Validates drafts without reading the store.
Result<void> check_drafts(std::span<const DocumentDraft> drafts, std::span<const std::string> deleted_keys) {
  std::set<std::string_view> keys;
  const auto take = [&](const std::string& key) -> Result<void> {
    if (key.empty()) return fail_field(ErrorCode::kInvalidArgument, "key", "a document needs a key");
    if (!keys.insert(key).second) {
      return fail_field(ErrorCode::kInvalidArgument, "key", "duplicate document '{}' in one commit", key);
    }
    return {};
  };
  for (const DocumentDraft& draft : drafts) {
    FOOTNOTE_CHECK(take(draft.key));
    for (const ChunkDraft& chunk : draft.chunks) {
      if (chunk.range.end < chunk.range.begin) {
        return fail_field(ErrorCode::kInvalidArgument, "range", "a chunk of '{}' ends before it starts", draft.key);
      }
      if (chunk.vectors.empty() && !chunk.point) {
        return fail_field(ErrorCode::kInvalidArgument, "vectors", "a chunk of '{}' has no vectors", draft.key);
      }
      if (!is_whole(chunk.codes)) {
        return fail_field(ErrorCode::kInvalidArgument, "codes", "the codes of a chunk of '{}' are truncated", draft.key);
      }
    }
  }
  for (const std::string& key : deleted_keys) FOOTNOTE_CHECK(take(key));
  return {};
}

Result<void> check_vectors(const DocumentDraft& draft, const EmbeddingSpace& space) {
  for (const ChunkDraft& chunk : draft.chunks) {
    for (const std::vector<float>& vector : chunk.vectors) {
      if (vector.size() != static_cast<std::size_t>(space.dimension)) {
        return fail(ErrorCode::kFailedPrecondition,
                    "a vector of '{}' has {} numbers, the corpus's model {} makes {}; use that model, or another corpus", draft.key,
                    vector.size(), space.model_id, space.dimension);
      }
      for (const float number : vector) {
        if (!std::isfinite(number)) {
          return fail_field(ErrorCode::kInvalidArgument, "vectors", "a vector of '{}' holds a number that is not finite", draft.key);
        }
      }
    }
  }
  return {};
}

/// A commit in progress, in a transaction invisible to others.
class Commit {
 public:
  Commit(sql::Database& database, Corpus corpus, UtcTime now)
      : database_(database), corpus_(std::move(corpus)), now_(now), generation_(corpus_.generation + 1), points_(database, corpus_) {}

  Result<Document> put(const DocumentDraft& draft) {
    FOOTNOTE_CHECK(check_vectors(draft, corpus_.space));
    FOOTNOTE_CHECK(points_.check(draft));
    FOOTNOTE_CHECK(check_source(draft.source));
    const std::string attributes = to_stored_text(draft.attributes);
    FOOTNOTE_TRY(auto known, find(draft.key));
    if (known.live && known.content_hash == draft.content_hash && known.attributes == attributes) {
      return std::move(*known.live);
    }
    if (known.live) FOOTNOTE_CHECK(bury_version(database_, generation_, now_, known.id, known.version));
    const bool is_point = !draft.chunks.empty() && draft.chunks.front().point;
    if (known.live && !is_point) FOOTNOTE_CHECK(keep_version(database_, known.id, known.version));
    FOOTNOTE_TRY(const std::int64_t id, identify(known, draft.key));
    const int version = known.version + 1;
    FOOTNOTE_CHECK(insert_version(id, version, draft, attributes));
    FOOTNOTE_CHECK(insert_chunks(id, version, draft));
    FOOTNOTE_CHECK(insert_edges(id, version, draft));
    changed_ = true;
    return Document{.id = {id},
                    .corpus = corpus_.id,
                    .source = draft.source,
                    .key = draft.key,
                    .version = version,
                    .content_hash = draft.content_hash,
                    .attributes = draft.attributes,
                    .chunk_count = draft.chunks.size(),
                    .indexed_at = now_};
  }

  /// False if there was no such live document.
  Result<bool> erase(const std::string& key) {
    FOOTNOTE_TRY(const auto known, find(key));
    if (!known.live) return false;
    FOOTNOTE_CHECK(bury_version(database_, generation_, now_, known.id, known.version));
    FOOTNOTE_CHECK(mark_document_deleted(database_, now_, known.id));
    changed_ = true;
    return true;
  }

  /// Increments the generation if anything changed.
  Result<Generation> publish() {
    if (!changed_) return corpus_.generation;
    FOOTNOTE_CHECK(publish_generation(database_, corpus_.id, generation_));
    return generation_;
  }

 private:
  /// The stored state of a key. `id` and `version` are 0 for a new one.
  struct Known {
    std::int64_t id = 0;
    int version = 0;
    std::string content_hash;
    std::string attributes;
    std::optional<Document> live;
  };

  Result<Known> find(const std::string& key) {
    FOOTNOTE_TRY(auto row, database_.prepare(R"sql(
      SELECT d.id, d.corpus_id, d.key, d.version, v.source_id, v.content_hash, v.attributes, v.chunk_count, v.indexed_at, d.deleted_at
      FROM documents d LEFT JOIN document_versions v ON v.document_id = d.id AND v.version = d.version
      WHERE d.corpus_id = ? AND d.key = ?)sql"));
    row.bind(corpus_.id.value, key);
    FOOTNOTE_TRY(const bool found, row.step());
    if (!found) return Known{};
    Known known{.id = row.integer(0), .version = static_cast<int>(row.integer(3))};
    if (!row.is_null(9)) return known;
    known.content_hash = row.text(5);
    known.attributes = row.text(6);
    FOOTNOTE_TRY(known.live, document_from(row));
    return known;
  }

  Result<void> check_source(SourceId source) {
    if (!source || source == checked_source_) return {};
    FOOTNOTE_TRY(auto find, database_.prepare("SELECT 1 FROM sources WHERE id = ? AND corpus_id = ? AND deleted_at IS NULL"));
    find.bind(source.value, corpus_.id.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "the corpus '{}' has no source {}", corpus_.name, source.value);
    checked_source_ = source;
    return {};
  }

  /// Returns the row of the document's identity, with its version incremented.
  Result<std::int64_t> identify(const Known& known, const std::string& key) {
    if (known.id == 0) {
      FOOTNOTE_TRY(auto insert, database_.prepare("INSERT INTO documents (corpus_id, key, version) VALUES (?, ?, 1)"));
      insert.bind(corpus_.id.value, key);
      FOOTNOTE_CHECK(insert.run());
      return database_.last_insert_id();
    }
    FOOTNOTE_TRY(auto update, database_.prepare("UPDATE documents SET version = ?, deleted_at = NULL WHERE id = ?"));
    update.bind(known.version + 1, known.id);
    FOOTNOTE_CHECK(update.run());
    return known.id;
  }

  Result<void> insert_version(std::int64_t document, int version, const DocumentDraft& draft, const std::string& attributes) {
    std::optional<std::string_view> original;
    if (draft.original) {
      original = draft.original->sha256;
      FOOTNOTE_TRY(auto store, database_.prepare("INSERT INTO originals (hash, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING"));
      store.bind(*original, std::as_bytes(std::span(draft.original->bytes)));
      FOOTNOTE_CHECK(store.run());
    }
    FOOTNOTE_TRY(auto insert, database_.prepare(R"sql(
      INSERT INTO document_versions (corpus_id, document_id, version, source_id, content_hash, chunk_count, indexed_at, born, original_hash,
                                     attributes, text)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql"));
    insert.bind(corpus_.id.value, document, version, to_row(draft.source), draft.content_hash, draft.chunks.size(), to_row(now_),
                generation_, original, attributes, draft.text);
    return insert.run();
  }

  Result<void> insert_chunks(std::int64_t document, int version, const DocumentDraft& draft) {
    FOOTNOTE_TRY(auto insert, database_.prepare(R"sql(
      INSERT INTO chunks (corpus_id, document_id, document_version, ordinal, born, range_begin, range_end, first_line, last_line,
                          content_hash, source_type, symbol, heading_path, text, places)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))sql"));
    FOOTNOTE_TRY(auto insert_vectors, database_.prepare("INSERT INTO chunk_vectors (chunk_id, windows, vectors) VALUES (?, ?, ?)"));
    FOOTNOTE_TRY(
        auto insert_codes,
        database_.prepare("INSERT INTO chunk_codes (chunk_id, corpus_id, form, dimension, windows, signs) VALUES (?, ?, ?, ?, ?, ?)"));
    int ordinal = 0;
    for (const ChunkDraft& chunk : draft.chunks) {
      insert.bind(corpus_.id.value, document, version, ordinal, generation_, chunk.range.begin, chunk.range.end, chunk.first_line,
                  chunk.last_line, chunk.content_hash, chunk.source_type, chunk.symbol, to_stored_text(chunk.heading_path), chunk.text,
                  to_stored_text(chunk.places));
      FOOTNOTE_CHECK(insert.run());
      const ChunkId id{database_.last_insert_id()};
      if (!chunk.vectors.empty()) {
        insert_vectors.bind(id.value, chunk.vectors.size(), std::span<const std::byte>(pack_vectors(chunk.vectors)));
        FOOTNOTE_CHECK(insert_vectors.run());
      }
      if (chunk.codes.form != 0) {
        insert_codes.bind(id.value, corpus_.id.value, chunk.codes.form, chunk.codes.dimension,
                          std::as_bytes(std::span(chunk.codes.windows)), std::span<const std::byte>(chunk.codes.signs));
        FOOTNOTE_CHECK(insert_codes.run());
      }
      FOOTNOTE_CHECK(points_.add(id, draft, ordinal++));
    }
    return {};
  }

  Result<void> insert_edges(std::int64_t document, int version, const DocumentDraft& draft) {
    FOOTNOTE_TRY(auto insert, database_.prepare(R"sql(
      INSERT INTO edges (corpus_id, document_id, document_version, from_key, to_key, type, provenance, weight, born)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?))sql"));
    for (const Edge& edge : draft.edges) {
      insert.bind(corpus_.id.value, document, version, edge.from_key, edge.to_key, edge.type, edge.provenance, edge.weight, generation_);
      FOOTNOTE_CHECK(insert.run());
    }
    return {};
  }

  sql::Database& database_;
  const Corpus corpus_;
  const UtcTime now_;
  const Generation generation_;
  PointRows points_;
  SourceId checked_source_;
  bool changed_ = false;
};

}  // namespace

Result<CommitReceipt> SqliteChunkStore::commit(const CallContext& call, CorpusId corpus, std::span<const DocumentDraft> drafts,
                                               std::span<const std::string> deleted_keys) {
  FOOTNOTE_CHECK(check_drafts(drafts, deleted_keys));
  return store_.write(call, [&](sql::Database& database) -> Result<CommitReceipt> {
    FOOTNOTE_TRY(auto row, read_corpus(database, corpus));
    Commit commit(database, std::move(row.corpus), store_.clock().now());
    CommitReceipt receipt;
    receipt.documents.reserve(drafts.size());
    for (const DocumentDraft& draft : drafts) {
      FOOTNOTE_TRY(auto document, commit.put(draft));
      receipt.documents.push_back(std::move(document));
    }
    for (const std::string& key : deleted_keys) {
      FOOTNOTE_TRY(const bool erased, commit.erase(key));
      receipt.deleted += erased ? 1 : 0;
    }
    FOOTNOTE_TRY(receipt.generation, commit.publish());
    return receipt;
  });
}

}  // namespace footnote
