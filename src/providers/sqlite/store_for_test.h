#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "contracts/chunk_drafts.h"
#include "engine/sql/folder_for_test.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

inline constexpr UtcTime kTestStart{std::chrono::milliseconds{1'772'357'400'125}};  // 2026-03-01T09:30:00.125Z

/// Reverts a store to the schema before jobs and originals, number 14.
inline constexpr sql::SqlText kUndoJobs = R"sql(
  DROP TABLE jobs; DROP TABLE source_failures; DROP INDEX sources_due; DROP INDEX document_versions_source;
  ALTER TABLE sources DROP COLUMN title; ALTER TABLE sources DROP COLUMN interval_seconds; ALTER TABLE sources DROP COLUMN watch;
  ALTER TABLE sources DROP COLUMN created_at; ALTER TABLE sources DROP COLUMN next_at; ALTER TABLE sources DROP COLUMN deleted_at;
  ALTER TABLE sources DROP COLUMN error; ALTER TABLE sources DROP COLUMN options; ALTER TABLE sources DROP COLUMN content;
  DROP INDEX document_versions_original; DROP INDEX document_versions_dead;
  ALTER TABLE document_versions DROP COLUMN original_hash; ALTER TABLE document_versions DROP COLUMN kept; DROP TABLE originals;
  CREATE INDEX document_versions_dead ON document_versions (corpus_id, died_at) WHERE died IS NOT NULL;
  PRAGMA user_version = 14)sql";

/// Reverts such a store to the schema before points.
inline constexpr sql::SqlText kUndoPoints = R"sql(
  DROP TABLE projects; DROP TABLE added_edges; DROP TABLE eval_cases; DROP TABLE turn_feedback; DROP TABLE chat_messages; DROP TABLE chats;
  ALTER TABLE api_keys DROP COLUMN labels; ALTER TABLE api_keys DROP COLUMN origin_id;
  DROP TABLE erasures; DROP TABLE removed_agents; DROP TABLE webhook_outbox; DROP TABLE webhook_endpoints; DROP TABLE agent_usage_days; DROP TABLE visits; DROP TABLE agent_gaps;
  DROP TABLE curated_answers; DROP TABLE agent_versions; DROP TABLE agents;
  DROP VIEW point_records; DROP TABLE points; DROP TABLE point_vectors; DROP TABLE payload_values; DROP TABLE payload_indexes;
  DROP TABLE aliases; DROP TABLE next_vectors;
  ALTER TABLE corpora DROP COLUMN distance; ALTER TABLE corpora DROP COLUMN named_spaces; ALTER TABLE corpora DROP COLUMN config;
  ALTER TABLE corpora DROP COLUMN deleted_at; ALTER TABLE corpora DROP COLUMN gate;
  DROP TRIGGER chunk_born; DROP TRIGGER chunk_died; DROP TRIGGER chunk_erased;
  ALTER TABLE corpora DROP COLUMN live_chunks; ALTER TABLE corpora DROP COLUMN live_sum;
  ALTER TABLE api_keys DROP COLUMN revoked_at; DROP INDEX document_versions_labelled;
  ALTER TABLE chunks DROP COLUMN places;
  PRAGMA user_version = 5)sql";

/// A store in its own folder, with the default corpus.
class SqliteStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    open();
    workspace_ = catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = catalog().ensure_corpus(call_, workspace_, kDefaultCorpus, space_).value().id;
  }
  void TearDown() override { store_.reset(); }

  void open(const SqliteStoreOptions& options = {}) {
    store_.reset();
    auto opened = SqliteStore::open(folder_.path(), options, clock_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  SqliteCatalogStore catalog() { return SqliteCatalogStore(*store_); }
  SqliteChunkStore chunks() { return SqliteChunkStore(*store_); }
  Result<CommitReceipt> commit(const std::vector<DocumentDraft>& drafts, const std::vector<std::string>& deleted = {}) {
    return chunks().commit(call_, corpus_, drafts, deleted);
  }
  /// Runs SQL behind the store's back, to break things.
  void execute(sql::SqlText script) {
    auto done = store_->write(call_, [&](sql::Database& database) { return database.execute(script); });
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  /// The names of check()'s findings.
  std::vector<std::string> found() {
    std::vector<std::string> out;
    const auto findings = store_->check(call_);
    EXPECT_TRUE(findings.has_value()) << findings.error().message;
    if (!findings) return {"error"};
    for (const StoreFinding& finding : *findings) out.push_back(finding.check);
    return out;
  }

  const CallContext call_;
  const EmbeddingSpace space_{"test-model", contract::kDimension};
  const sql::FolderForTest folder_;
  ManualClock clock_{kTestStart};
  std::unique_ptr<SqliteStore> store_;
  WorkspaceId workspace_;
  CorpusId corpus_;
};

}  // namespace footnote
