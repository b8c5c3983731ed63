#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contracts/stopped_call.h"
#include "ports/catalog_store.h"

/// What every CatalogStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogStoreContract, ::testing::Values(CatalogStoreCase{"sqlite", make}), catalog_store_case_name);
namespace footnote::contract {

/// A catalog with only the default workspace.
class CatalogStoreHarness {
 public:
  virtual ~CatalogStoreHarness() = default;
  virtual CatalogStore& catalog() = 0;
  /// A second workspace.
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

TEST_P(CatalogStoreContract, ACorpusKeepsItsGateUntilAnotherComes) {
  const Corpus made = ensure(workspace_, "memory");
  EXPECT_FALSE(made.gate);
  const GateCalibration gate{.evidence_min = 0.5275,
                             .wanted_rate = 0.05,
                             .false_answer_rate = 0.0625,
                             .answered_rate = 0.9,
                             .probes = 300,
                             .embedder = "model-a",
                             .judge = "judge",
                             .made_at = UtcTime{std::chrono::milliseconds{1'772'357'400'125}},
                             .cosine = SignalScale{3.5, -2.25},
                             .judge_scale = std::nullopt,
                             .automatic = true,
                             .passages = 1200};
  ASSERT_TRUE(catalog().set_gate(call_, made.id, gate));
  EXPECT_EQ(catalog().corpus(call_, made.id)->gate, gate);
  EXPECT_EQ(catalog().find_corpus(call_, workspace_, "memory")->gate, gate);
  EXPECT_EQ(catalog().corpora(call_, workspace_)->at(0).gate, gate);
  EXPECT_NE(catalog().corpus(call_, made.id)->gate_for("judge"), nullptr);
  EXPECT_EQ(catalog().corpus(call_, made.id)->gate_for(""), nullptr) << "it holds for the models that it was measured with";
  ASSERT_TRUE(catalog().set_gate(call_, made.id, std::nullopt));
  EXPECT_FALSE(catalog().corpus(call_, made.id)->gate);
  EXPECT_EQ(catalog().set_gate(call_, {made.id.value + 1000}, gate).error().code, ErrorCode::kNotFound);
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

TEST_P(CatalogStoreContract, WorkspacesAreMadeOnceAndListedByName) {
  const auto made = catalog().add_workspace(call_, "acme");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(catalog().find_workspace(call_, "acme")->id, made->id);
  EXPECT_EQ(catalog().add_workspace(call_, "acme").error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(catalog().add_workspace(call_, " ").error().code, ErrorCode::kInvalidArgument);
  std::vector<std::string> listed;
  const auto all = catalog().workspaces(call_).value();
  for (const Workspace& workspace : all) listed.push_back(workspace.name);
  EXPECT_THAT(listed, ::testing::ElementsAre("acme", kDefaultWorkspace));
}

TEST_P(CatalogStoreContract, KeysAreKeptAsTheyWereMade) {
  const UtcTime at{std::chrono::milliseconds{1'772'357'400'125}};
  const ApiKey key{.workspace = workspace_,
                   .name = "ci",
                   .display_prefix = "fn_live_abcdefgh",
                   .secret_hash = "hash-1",
                   .scopes = {KeyScope::kRead, KeyScope::kIngest},
                   .created_at = at,
                   .expires_at = at + std::chrono::hours{1},
                   .limits = {60, 1000}};
  const auto added = catalog().add_key(call_, key);
  ASSERT_TRUE(added.has_value()) << added.error().message;
  EXPECT_TRUE(added->id);
  const auto all = catalog().keys(call_).value();
  ASSERT_EQ(all.size(), 1U);
  const ApiKey& kept = all[0];
  EXPECT_EQ(kept.id, added->id);
  EXPECT_EQ(kept.workspace, workspace_);
  EXPECT_EQ(kept.name, "ci");
  EXPECT_EQ(kept.display_prefix, key.display_prefix);
  EXPECT_EQ(kept.secret_hash, "hash-1");
  EXPECT_EQ(kept.scopes, key.scopes);
  EXPECT_EQ(kept.created_at, at);
  EXPECT_EQ(kept.expires_at, key.expires_at);
  EXPECT_EQ(kept.limits, key.limits);
  EXPECT_EQ(kept.usage, KeyUsage{});
  EXPECT_EQ(catalog().add_key(call_, key).error().code, ErrorCode::kAlreadyExists);
  ApiKey foreign = key;
  foreign.secret_hash = "hash-2";
  foreign.workspace = {987654};
  EXPECT_EQ(catalog().add_key(call_, foreign).error().code, ErrorCode::kNotFound);
}

TEST_P(CatalogStoreContract, AKeyEndsAtTheEarlierOfTwoMoments) {
  const UtcTime at{std::chrono::milliseconds{1'772'357'400'125}};
  const ApiKeyId id =
      catalog()
          .add_key(call_, {.workspace = workspace_, .name = "a", .secret_hash = "h", .scopes = {KeyScope::kRead}, .created_at = at})
          ->id;
  EXPECT_EQ(catalog().end_key(call_, id, at + std::chrono::hours{2})->expires_at, at + std::chrono::hours{2});
  EXPECT_EQ(catalog().end_key(call_, id, at + std::chrono::hours{1})->expires_at, at + std::chrono::hours{1});
  EXPECT_EQ(catalog().end_key(call_, id, at + std::chrono::hours{3})->expires_at, at + std::chrono::hours{1});
  EXPECT_EQ(catalog().keys(call_).value().at(0).expires_at, at + std::chrono::hours{1});
  EXPECT_EQ(catalog().end_key(call_, ApiKeyId{987654}, at).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(catalog().keys(call_).value().at(0).revoked_at, std::nullopt);
  EXPECT_EQ(catalog().revoke_key(call_, id, at)->revoked_at, at);
  EXPECT_EQ(catalog().revoke_key(call_, id, at + std::chrono::hours{1})->revoked_at, at) << "it keeps its time";
  EXPECT_EQ(catalog().keys(call_).value().at(0).revoked_at, at);
  EXPECT_EQ(catalog().revoke_key(call_, ApiKeyId{987654}, at).error().code, ErrorCode::kNotFound);
}

TEST_P(CatalogStoreContract, UseOfKeysIsRemembered) {
  const UtcTime at{std::chrono::milliseconds{1'772'357'400'125}};
  const ApiKeyId id =
      catalog()
          .add_key(call_, {.workspace = workspace_, .name = "a", .secret_hash = "h", .scopes = {KeyScope::kRead}, .created_at = at})
          ->id;
  const KeyUsage used{at, 20'514, 7};
  const std::vector<std::pair<ApiKeyId, KeyUsage>> noted{{id, used}, {ApiKeyId{987654}, used}};
  ASSERT_TRUE(catalog().note_key_usage(call_, noted).has_value());
  EXPECT_EQ(catalog().keys(call_).value().at(0).usage, used);
}

TEST_P(CatalogStoreContract, ThePepperStays) {
  const auto pepper = catalog().key_pepper(call_);
  ASSERT_TRUE(pepper.has_value()) << pepper.error().message;
  EXPECT_GE(pepper->size(), 64U);
  EXPECT_EQ(catalog().key_pepper(call_).value(), *pepper);
}

TEST_P(CatalogStoreContract, ACallThatIsOverChangesNothing) {
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  const ApiKey key{.workspace = workspace_, .name = "ci", .secret_hash = "hash-1", .scopes = {KeyScope::kRead}};
  EXPECT_EQ(catalog().ensure_corpus(stopped_call(), workspace_, "memory", space_).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(catalog().ensure_corpus(late, workspace_, "memory", space_).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(catalog().add_key(stopped_call(), key).error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(names(workspace_).empty());
  EXPECT_EQ(catalog().keys(call_)->size(), 0U);
  const CorpusId corpus = ensure(workspace_, "memory").id;
  EXPECT_EQ(catalog().ensure_source(stopped_call(), corpus, SourceKind::kFolder, "/docs").error().code, ErrorCode::kCancelled);
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
