#include "providers/sqlite/sqlite_catalog_store.h"

#include <gmock/gmock.h>

#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace {

using ::testing::HasSubstr;
using SqliteCatalogStoreTest = SqliteStoreTest;

TEST_F(SqliteCatalogStoreTest, HasADefaultWorkspaceFromTheStart) {
  const Workspace workspace = catalog().find_workspace(call_, "default").value();
  EXPECT_EQ(workspace.name, "default");
  EXPECT_EQ(workspace.created_at, kTestStart);
  EXPECT_EQ(catalog().find_workspace(call_, "nobody").error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteCatalogStoreTest, MakesACorpusOnceAndFindsItAgain) {
  const Corpus made = catalog().ensure_corpus(call_, workspace_, "docs", space_).value();
  clock_.advance(std::chrono::hours{1});
  for (const Corpus& corpus : {catalog().ensure_corpus(call_, workspace_, "docs", space_).value(),
                               catalog().find_corpus(call_, workspace_, "docs").value(), catalog().corpus(call_, made.id).value()}) {
    EXPECT_EQ(corpus.id, made.id);
    EXPECT_EQ(corpus.workspace, workspace_);
    EXPECT_EQ(corpus.name, "docs");
    EXPECT_EQ(corpus.space, space_);
    EXPECT_EQ(corpus.generation, 0);
    EXPECT_EQ(corpus.created_at, kTestStart);
  }
  const auto all = catalog().corpora(call_, workspace_).value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "docs");
  EXPECT_EQ(all[1].name, "memory");
}

TEST_F(SqliteCatalogStoreTest, RefusesAnotherSpaceAndNamesTheFix) {
  const auto refused = catalog().ensure_corpus(call_, workspace_, kDefaultCorpus, {"other-model", contract::kDimension});
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("--corpus"));
}

TEST_F(SqliteCatalogStoreTest, NamesTheCorporaThereAre) {
  const auto missing = catalog().find_corpus(call_, workspace_, "memroy");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("memory"));
  EXPECT_EQ(catalog().corpus(call_, {4711}).error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteCatalogStoreTest, RefusesNamesAndDimensionsThatCantBeRight) {
  const auto code = [&](std::string_view name, int dimension) {
    return catalog().ensure_corpus(call_, workspace_, name, {"m", dimension}).error().code;
  };
  EXPECT_EQ(code("", 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("  ", 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("a\nb", 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("caf\xE9", 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(std::string(kCorpusNameBytesMax + 1, 'x'), 4), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("ok", 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("ok", kDimensionMax + 1), ErrorCode::kInvalidArgument);
  EXPECT_EQ(catalog().ensure_corpus(call_, {99}, "ok", space_).error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteCatalogStoreTest, KeepsWorkspacesApart) {
  const WorkspaceId other = catalog().add_workspace(call_, "other").value().id;
  EXPECT_TRUE(catalog().corpora(call_, other)->empty());
  const auto missing = catalog().find_corpus(call_, other, kDefaultCorpus);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(catalog().ensure_corpus(call_, other, kDefaultCorpus, {"x", 2})->id, corpus_);
}

TEST_F(SqliteCatalogStoreTest, RemembersSources) {
  const Source made = catalog().ensure_source(call_, corpus_, SourceKind::kFolder, "/docs").value();
  EXPECT_EQ(made.synced_at, std::nullopt);
  EXPECT_NE(catalog().ensure_source(call_, corpus_, SourceKind::kGit, "/docs")->id, made.id);
  ASSERT_TRUE(catalog().mark_synced(call_, made.id, kTestStart).has_value());
  const Source again = catalog().ensure_source(call_, corpus_, SourceKind::kFolder, "/docs").value();
  EXPECT_EQ(again.id, made.id);
  EXPECT_EQ(again.corpus, corpus_);
  EXPECT_EQ(again.synced_at, kTestStart);
  EXPECT_EQ(catalog().mark_synced(call_, {4711}, kTestStart).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(catalog().ensure_source(call_, {4711}, SourceKind::kText, "").error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteCatalogStoreTest, WhatHadEndedBeforeRevocationsWereFlagsStaysEnded) {
  const UtcTime past{std::chrono::hours{1}};
  ApiKey key{.workspace = workspace_, .name = "k", .secret_hash = "a", .scopes = {KeyScope::kRead}, .created_at = past};
  const ApiKeyId lives = catalog().add_key(call_, key)->id;
  key.secret_hash = "b";
  const ApiKeyId ended = catalog().add_key(call_, key)->id;
  ASSERT_TRUE(catalog().end_key(call_, ended, past).has_value());
  execute(kUndoJobs);
  execute(
      "DROP TABLE projects; DROP TABLE added_edges; DROP TABLE eval_cases; DROP TABLE turn_feedback; DROP TABLE chat_messages; DROP TABLE "
      "chats; "
      "ALTER TABLE api_keys DROP COLUMN labels; ALTER TABLE api_keys DROP COLUMN origin_id; ALTER TABLE api_keys DROP COLUMN revoked_at; "
      "DROP INDEX document_versions_labelled; ALTER TABLE chunks DROP COLUMN places; PRAGMA "
      "user_version = 12");
  open();
  const std::vector<ApiKey> keys = catalog().keys(call_).value();
  for (const ApiKey& kept : keys) {
    EXPECT_EQ(kept.revoked_at.has_value(), kept.id == ended) << kept.id.value;
    EXPECT_EQ(kept.has_ended(UtcTime{}), kept.id != lives) << "whatever the clock says";
  }
}

}  // namespace
}  // namespace footnote
