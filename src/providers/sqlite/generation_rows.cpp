#include "providers/sqlite/generation_rows.h"

#include "providers/sqlite/rows.h"
#include "providers/sqlite/sqlite_chunk_store.h"

namespace footnote {

Result<void> bury_version(sql::Database& database, Generation generation, UtcTime now, std::int64_t document, int version) {
  FOOTNOTE_TRY(auto versions, database.prepare("UPDATE document_versions SET died = ?, died_at = ? WHERE document_id = ? AND version = ?"));
  versions.bind(generation, to_row(now), document, version);
  FOOTNOTE_CHECK(versions.run());
  FOOTNOTE_TRY(auto chunks, database.prepare("UPDATE chunks SET died = ?, died_at = ? WHERE document_id = ? AND document_version = ?"));
  chunks.bind(generation, to_row(now), document, version);
  FOOTNOTE_CHECK(chunks.run());
  FOOTNOTE_TRY(auto edges, database.prepare("UPDATE edges SET died = ?, died_at = ? WHERE document_id = ? AND document_version = ?"));
  edges.bind(generation, to_row(now), document, version);
  return edges.run();
}

Result<void> keep_version(sql::Database& database, std::int64_t document, int version) {
  FOOTNOTE_TRY(auto keep, database.prepare("UPDATE document_versions SET kept = (version = ?2) "
                                           "WHERE document_id = ?1 AND (version = ?2 OR version = ?2 - ?3)"));
  keep.bind(document, version, kVersionsKeptMax);
  return keep.run();
}

Result<void> mark_document_deleted(sql::Database& database, UtcTime now, std::int64_t document) {
  FOOTNOTE_TRY(auto mark, database.prepare("UPDATE documents SET deleted_at = ? WHERE id = ?"));
  mark.bind(to_row(now), document);
  FOOTNOTE_CHECK(mark.run());
  FOOTNOTE_TRY(auto let_go, database.prepare("UPDATE document_versions SET kept = 0 WHERE document_id = ? AND kept"));
  let_go.bind(document);
  return let_go.run();
}

Result<void> publish_generation(sql::Database& database, CorpusId corpus, Generation generation) {
  FOOTNOTE_TRY(auto update, database.prepare("UPDATE corpora SET generation = ? WHERE id = ?"));
  update.bind(generation, corpus.value);
  FOOTNOTE_CHECK(update.run());
  FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO commits (corpus_id, generation, stamp) VALUES (?, ?, random())"));
  insert.bind(corpus.value, generation);
  FOOTNOTE_CHECK(insert.run());
  FOOTNOTE_TRY(auto forget, database.prepare("DELETE FROM commits WHERE corpus_id = ? AND generation <= ?"));
  forget.bind(corpus.value, generation - SqliteChunkStore::kStampsKept);
  return forget.run();
}

}  // namespace footnote
