#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ports/catalog_store.h"

/// What every CatalogStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogStoreContract, ::testing::Values(CatalogStoreCase{"sqlite", make}), catalog_store_case_name);
namespace footnote::contract {

/// A catalog, empty but for the default workspace.
class CatalogStoreHarness {
 public:
  virtual ~CatalogStoreHarness() = default;
  virtual CatalogStore& catalog() = 0;
  /// A workspace beside the default one.
  virtual WorkspaceId other_workspace() = 0;
};

struct CatalogStoreCase {
  std::string name;
  std::function<std::unique_ptr<CatalogStoreHarness>()> make;
};

inline std::string catalog_store_case_name(const ::testing::TestParamInfo<CatalogStoreCase>& info) { return info.param.name; }

class CatalogStoreContract : public ::testing::TestWithParam<CatalogStoreCase> {
 protected:
  void SetUp() override { workspace_ = catalog().find_workspace(call_, kDefaultWorkspace).value().id; }

  CatalogStore& catalog() { return harness_->catalog(); }
  Corpus ensure(WorkspaceId workspace, std::string_view name) { return catalog().ensure_corpus(call_, workspace, name, space_).value(); }
  std::vector<std::string> names(WorkspaceId workspace) {
    std::vector<std::string> out;
    const auto all = catalog().corpora(call_, workspace).value();
    for (const Corpus& corpus : all) out.push_back(corpus.name);
    return out;
  }

  const CallContext call_;
  const EmbeddingSpace space_{"model-a", 8};
  std::unique_ptr<CatalogStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
};

TEST_P(CatalogStoreContract, TheDefaultWorkspaceIsThere) {
  const auto found = catalog().find_workspace(call_, kDefaultWorkspace);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->id);
  EXPECT_EQ(found->name, kDefaultWorkspace);
  EXPECT_EQ(catalog().find_workspace(call_, "nobody").error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(names(workspace_).empty());
}

TEST_P(CatalogStoreContract, ACorpusIsMadeOnceAndFoundAgain) {
  const Corpus made = ensure(workspace_, "memory");
  EXPECT_TRUE(made.id);
  EXPECT_EQ(made.workspace, workspace_);
  EXPECT_EQ(made.name, "memory");
  EXPECT_EQ(made.space, space_);
  EXPECT_EQ(made.generation, 0);
  EXPECT_EQ(ensure(workspace_, "memory").id, made.id);
  EXPECT_EQ(catalog().find_corpus(call_, workspace_, "memory")->id, made.id);
  EXPECT_EQ(catalog().corpus(call_, made.id)->name, "memory");
  ensure(workspace_, "other");
  EXPECT_THAT(names(workspace_), ::testing::UnorderedElementsAre("memory", "other"));
}

TEST_P(CatalogStoreContract, ACorpusKeepsItsSpace) {
  ensure(workspace_, "memory");
  for (const EmbeddingSpace& other : {EmbeddingSpace{"model-b", 8}, EmbeddingSpace{"model-a", 16}}) {
    const auto refused = catalog().ensure_corpus(call_, workspace_, "memory", other);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr(space_.model_id));
  }
  EXPECT_EQ(catalog().find_corpus(call_, workspace_, "memory")->space, space_);
}

TEST_P(CatalogStoreContract, AMissingCorpusNamesThoseThatThereAre) {
  ensure(workspace_, "handbook");
  const auto missing = catalog().find_corpus(call_, workspace_, "hand-book");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, ::testing::HasSubstr("handbook"));
  EXPECT_EQ(catalog().corpus(call_, CorpusId{987654}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(catalog().ensure_corpus(call_, workspace_, "", space_).error().code, ErrorCode::kInvalidArgument);
}

TEST_P(CatalogStoreContract, WorkspacesDoNotSeeEachOther) {
  const WorkspaceId other = harness_->other_workspace();
  const Corpus mine = ensure(workspace_, "memory"), theirs = ensure(other, "memory");
  EXPECT_NE(mine.id, theirs.id);
  ensure(other, "secret-plans");
  EXPECT_THAT(names(workspace_), ::testing::ElementsAre("memory"));
  const auto missing = catalog().find_corpus(call_, workspace_, "secret-plans");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto hint = catalog().find_corpus(call_, workspace_, "x");
  EXPECT_THAT(hint.error().message, ::testing::Not(::testing::HasSubstr("secret-plans")));
}

TEST_P(CatalogStoreContract, ASourceIsMadeOnceByKindAndLocation) {
  const CorpusId corpus = ensure(workspace_, "memory").id;
  const Source made = catalog().ensure_source(call_, corpus, SourceKind::kFolder, "/docs").value();
  EXPECT_TRUE(made.id);
  EXPECT_EQ(made.corpus, corpus);
  EXPECT_EQ(made.location, "/docs");
  EXPECT_EQ(made.synced_at, std::nullopt);
  EXPECT_EQ(catalog().ensure_source(call_, corpus, SourceKind::kFolder, "/docs")->id, made.id);
  EXPECT_NE(catalog().ensure_source(call_, corpus, SourceKind::kFolder, "/docs/more")->id, made.id);
  EXPECT_NE(catalog().ensure_source(call_, corpus, SourceKind::kUpload, "/docs")->id, made.id);
  EXPECT_NE(catalog().ensure_source(call_, ensure(workspace_, "other").id, SourceKind::kFolder, "/docs")->id, made.id);
  EXPECT_EQ(catalog().ensure_source(call_, CorpusId{987654}, SourceKind::kFolder, "/docs").error().code, ErrorCode::kNotFound);
}

TEST_P(CatalogStoreContract, ASyncIsRemembered) {
  const CorpusId corpus = ensure(workspace_, "memory").id;
  const Source made = catalog().ensure_source(call_, corpus, SourceKind::kFolder, "/docs").value();
  const UtcTime at{std::chrono::milliseconds{1'772'357'400'125}};
  ASSERT_TRUE(catalog().mark_synced(call_, made.id, at).has_value());
  EXPECT_EQ(catalog().ensure_source(call_, corpus, SourceKind::kFolder, "/docs")->synced_at, at);
  EXPECT_EQ(catalog().mark_synced(call_, SourceId{987654}, at).error().code, ErrorCode::kNotFound);
}

TEST_P(CatalogStoreContract, KeysAreFoundByTheHashOfTheirSecret) {
  const UtcTime at{std::chrono::milliseconds{1'772'357'400'125}};
  const ApiKey key{.workspace = workspace_,
                   .name = "ci",
                   .display_prefix = "fn_abc",
                   .secret_hash = "hash-1",
                   .scopes = {KeyScope::kRead, KeyScope::kIngest},
                   .created_at = at,
                   .expires_at = at + std::chrono::hours{1}};
  const auto added = catalog().add_key(call_, key);
  ASSERT_TRUE(added.has_value()) << added.error().message;
  EXPECT_TRUE(added->id);
  const auto found = catalog().find_key(call_, "hash-1").value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, added->id);
  EXPECT_EQ(found->workspace, workspace_);
  EXPECT_EQ(found->name, "ci");
  EXPECT_EQ(found->display_prefix, "fn_abc");
  EXPECT_EQ(found->scopes, key.scopes);
  EXPECT_EQ(found->expires_at, key.expires_at);
  EXPECT_EQ(found->last_used_at, std::nullopt);
  EXPECT_EQ(catalog().find_key(call_, "hash-2").value(), std::nullopt);
  EXPECT_EQ(catalog().add_key(call_, key).error().code, ErrorCode::kAlreadyExists);
}

TEST_P(CatalogStoreContract, SeveralThreadsMakeOneCorpus) {
  std::vector<CorpusId> made(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < made.size(); ++i) threads.emplace_back([&, i] { made[i] = ensure(workspace_, "memory").id; });
  }
  EXPECT_THAT(made, ::testing::Each(made[0]));
  EXPECT_EQ(names(workspace_).size(), 1U);
}

}  // namespace footnote::contract
