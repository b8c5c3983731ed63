// SqliteChunkStore: reads documents, texts, chunks and vectors.
#include <algorithm>

#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_chunk_store.h"

namespace footnote {

Result<std::vector<Document>> SqliteChunkStore::documents(const CallContext& call, CorpusId corpus, std::string_view after_key,
                                                          std::size_t limit) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<Document>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT d.id, d.corpus_id, d.key, v.version, v.source_id, v.content_hash, v.attributes, v.chunk_count, v.indexed_at
      FROM documents d JOIN document_versions v ON v.document_id = d.id AND v.version = d.version
      WHERE d.corpus_id = ? AND d.key > ? AND d.deleted_at IS NULL
      ORDER BY d.key LIMIT ?)sql"));
    list.bind(corpus.value, after_key, limit_of(limit));
    return list.collect<Document>([&](const sql::Statement& row) { return document_from(row); });
  });
}

Result<CorpusCounts> SqliteChunkStore::counts(const CallContext& call, CorpusId corpus) const {
  return store_.read(call, [&](sql::Database& database) -> Result<CorpusCounts> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto count,
                 database.prepare("SELECT count(*), total(chunk_count) FROM document_versions WHERE corpus_id = ? AND died IS NULL"));
    count.bind(corpus.value);
    FOOTNOTE_CHECK(count.step());
    // Uses a separate index: labels are rare, so the attributes of other documents need not be read.
    FOOTNOTE_TRY(auto labelled, database.prepare("SELECT count(*), total(chunk_count) FROM document_versions INDEXED BY "
                                                 "document_versions_labelled WHERE corpus_id = ? AND died IS NULL AND "
                                                 "instr(attributes, '\"acl_labels\":[\"') > 0"));
    labelled.bind(corpus.value);
    FOOTNOTE_CHECK(labelled.step());
    return CorpusCounts{.documents = count.integer(0),
                        .chunks = count.integer(1),
                        .labelled_documents = labelled.integer(0),
                        .labelled_chunks = labelled.integer(1)};
  });
}

Result<std::optional<Document>> SqliteChunkStore::find_document(const CallContext& call, CorpusId corpus, std::string_view key) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::optional<Document>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT d.id, d.corpus_id, d.key, v.version, v.source_id, v.content_hash, v.attributes, v.chunk_count, v.indexed_at
      FROM documents d JOIN document_versions v ON v.document_id = d.id AND v.version = d.version
      WHERE d.corpus_id = ? AND d.key = ? AND d.deleted_at IS NULL)sql"));
    find.bind(corpus.value, key);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return std::nullopt;
    return document_from(find);
  });
}

Result<DocumentText> SqliteChunkStore::document_text(const CallContext& call, WorkspaceId workspace, DocumentId document,
                                                     int version) const {
  return store_.read(call, [&](sql::Database& database) -> Result<DocumentText> {
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT d.id, d.corpus_id, d.key, v.version, v.source_id, v.content_hash, v.attributes, v.chunk_count, v.indexed_at, v.text,
             instr(live.attributes, '"acl_labels":["') > 0
      FROM documents d
      JOIN corpora c ON c.id = d.corpus_id
      JOIN document_versions v ON v.document_id = d.id
      JOIN document_versions live ON live.document_id = d.id AND live.version = d.version
      WHERE d.id = ?1 AND c.workspace_id = ?2 AND v.version = CASE ?3 WHEN 0 THEN d.version ELSE ?3 END
        AND d.deleted_at IS NULL)sql"));
    find.bind(document.value, workspace.value, version);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no document {}", document.value);
    FOOTNOTE_TRY(auto found_document, document_from(find));
    const bool labelled = find.integer(10) != 0 || !found_document.attributes.acl_labels.empty();
    return DocumentText{.document = std::move(found_document), .text = std::string(find.text(9)), .labelled = labelled};
  });
}

Result<std::vector<DocumentVersion>> SqliteChunkStore::versions(const CallContext& call, WorkspaceId workspace, DocumentId document) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<DocumentVersion>> {
    FOOTNOTE_TRY(auto list, database.prepare(R"sql(
      SELECT d.id, d.corpus_id, d.key, v.version, v.source_id, v.content_hash, v.attributes, v.chunk_count, v.indexed_at, v.died_at,
             v.original_hash IS NOT NULL
      FROM documents d JOIN corpora c ON c.id = d.corpus_id JOIN document_versions v ON v.document_id = d.id
      WHERE d.id = ? AND c.workspace_id = ? AND d.deleted_at IS NULL AND (v.died IS NULL OR v.kept) ORDER BY v.version DESC)sql"));
    list.bind(document.value, workspace.value);
    FOOTNOTE_TRY(auto out, list.collect<DocumentVersion>([](const sql::Statement& row) -> Result<DocumentVersion> {
      FOOTNOTE_TRY(auto found, document_from(row));
      return DocumentVersion{std::move(found), time_from(row.optional_integer(9)), row.integer(10) != 0};
    }));
    if (out.empty()) return fail(ErrorCode::kNotFound, "there is no document {}", document.value);
    return out;
  });
}

Result<DocumentOriginal> SqliteChunkStore::original(const CallContext& call, WorkspaceId workspace, DocumentId document,
                                                    int version) const {
  FOOTNOTE_TRY(DocumentText known, document_text(call, workspace, document, version));
  return store_.read(call, [&](sql::Database& database) -> Result<DocumentOriginal> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT o.bytes FROM document_versions v JOIN originals o ON o.hash = v.original_hash "
                                             "WHERE v.document_id = ? AND v.version = ?"));
    find.bind(document.value, known.document.version);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) {
      return fail(ErrorCode::kFailedPrecondition, "the original of document {} was not kept; ingest it again, with ingest.originals = keep",
                  document.value);
    }
    const auto bytes = find.blob(0);
    return DocumentOriginal{.document = std::move(known.document),
                            .bytes = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                            .labelled = known.labelled};
  });
}

Result<std::vector<ChunkReader::ChunkRecord>> SqliteChunkStore::chunks(const CallContext& call, CorpusId corpus,
                                                                       std::span<const ChunkId> ids) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<ChunkRecord>> {
    FOOTNOTE_CHECK(check_corpus(database, corpus));
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT id, document_id, document_version, ordinal, born, died, range_begin, range_end, first_line, last_line,
             content_hash, source_type, symbol, heading_path, text, places
      FROM chunks WHERE id = ? AND +corpus_id = ?)sql"));
    DocumentLookup documents(database, &documents_);
    std::vector<ChunkRecord> out;
    out.reserve(ids.size());
    for (const ChunkId id : ids) {
      find.bind(id.value, corpus.value);
      FOOTNOTE_TRY(const bool found, find.step());
      if (!found) continue;
      FOOTNOTE_TRY(auto chunk, chunk_from(find));
      FOOTNOTE_TRY(const auto* document, documents.find(chunk.document.value, chunk.document_version));
      out.push_back({std::move(chunk), document->key, document->attributes});
    }
    return out;
  });
}

Result<std::optional<std::int64_t>> SqliteChunkStore::stamp(const CallContext& call, CorpusId corpus, Generation generation) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::optional<std::int64_t>> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT stamp FROM commits WHERE corpus_id = ? AND generation = ?"));
    find.bind(corpus.value, generation);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return std::nullopt;
    return find.integer(0);
  });
}

Result<LiveDigest> SqliteChunkStore::live_digest(const CallContext& call, CorpusId corpus) const {
  return store_.read(call, [&](sql::Database& database) -> Result<LiveDigest> {
    FOOTNOTE_TRY(auto find, database.prepare("SELECT generation, live_chunks, live_sum FROM corpora WHERE id = ?"));
    find.bind(corpus.value);
    FOOTNOTE_TRY(const bool found, find.step());
    if (!found) return fail(ErrorCode::kNotFound, "there is no corpus {}", corpus.value);
    return LiveDigest{.generation = find.integer(0), .count = find.integer(1), .sum = find.integer(2)};
  });
}

Result<std::vector<LiveRow>> SqliteChunkStore::live_rows(const CallContext& call, CorpusId corpus) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<LiveRow>> {
    FOOTNOTE_TRY(auto list, database.prepare("SELECT id, born FROM chunks WHERE corpus_id = ? AND died IS NULL ORDER BY id"));
    list.bind(corpus.value);
    std::vector<LiveRow> out;
    for (;;) {
      FOOTNOTE_TRY(const bool more, list.step());
      if (!more) return out;
      out.push_back({ChunkId{list.integer(0)}, list.integer(1)});
    }
  });
}

Result<std::map<std::string, ChunkEmbedding>> SqliteChunkStore::embeddings_by_hash(const CallContext& call, CorpusId corpus,
                                                                                   std::span<const std::string> hashes) const {
  using EmbeddingsByHash = std::map<std::string, ChunkEmbedding>;
  return store_.read(call, [&](sql::Database& database) -> Result<EmbeddingsByHash> {
    FOOTNOTE_TRY(const auto row, read_corpus(database, corpus));
    // If any chunk has codes in the current form, the newest one does, so check only that.
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT v.windows, v.vectors, k.form, k.dimension, k.windows, k.signs
      FROM chunks c JOIN chunk_vectors v ON v.chunk_id = c.id LEFT JOIN chunk_codes k ON k.chunk_id = c.id
      WHERE c.corpus_id = ? AND c.content_hash = ? ORDER BY c.id DESC LIMIT 1)sql"));
    EmbeddingsByHash out;
    for (const std::string& hash : hashes) {
      if (out.contains(hash)) continue;
      find.bind(corpus.value, hash);
      FOOTNOTE_TRY(const bool found, find.step());
      if (!found) continue;
      FOOTNOTE_TRY(auto vectors, unpack_vectors(find.blob(1), find.integer(0), row.corpus.space.dimension));
      FOOTNOTE_TRY(auto codes, codes_from(find, 2));
      out.emplace(hash, ChunkEmbedding{std::move(vectors), std::move(codes)});
    }
    return out;
  });
}

Result<std::vector<ChunkId>> SqliteChunkStore::chunk_ids(const CallContext& call, CorpusId corpus, Generation after,
                                                         Generation until) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<ChunkId>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    // From the index alone: the chunk rows contain texts, which are not needed.
    FOOTNOTE_TRY(auto select,
                 database.prepare("SELECT id FROM chunks INDEXED BY chunks_born WHERE corpus_id = ? AND born > ? AND born <= ?"));
    select.bind(corpus.value, after, until);
    FOOTNOTE_TRY(auto out, select.collect<ChunkId>([&](const sql::Statement& row) { return ChunkId{row.integer(0)}; }));
    std::ranges::sort(out);
    return out;
  });
}

Result<std::vector<PassageCodes>> SqliteChunkStore::passage_codes(const CallContext& call, CorpusId corpus,
                                                                  std::span<const ChunkId> ids) const {
  return store_.read(call, [&](sql::Database& database) -> Result<std::vector<PassageCodes>> {
    FOOTNOTE_CHECK(read_corpus(database, corpus));
    FOOTNOTE_TRY(auto find, database.prepare(R"sql(
      SELECT form, dimension, windows, signs FROM chunk_codes WHERE chunk_id = ? AND +corpus_id = ?)sql"));
    std::vector<PassageCodes> out(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      find.bind(ids[i].value, corpus.value);
      FOOTNOTE_TRY(const bool found, find.step());
      if (!found) continue;
      FOOTNOTE_TRY(out[i], codes_from(find, 0));
    }
    return out;
  });
}

}  // namespace footnote
