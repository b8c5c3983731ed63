#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "contracts/chunk_drafts.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/point_store.h"

/// What every PointStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, PointStoreContract, ::testing::Values(PointStoreCase{"sqlite", make}), point_store_case_name);
namespace footnote::contract {

class PointStoreHarness {
 public:
  virtual ~PointStoreHarness() = default;
  virtual PointStore& points() = 0;
  virtual ChunkStore& chunks() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual WorkspaceId other_workspace() = 0;
};

struct PointStoreCase {
  std::string name;
  std::function<std::unique_ptr<PointStoreHarness>()> make;
};

inline std::string point_store_case_name(const ::testing::TestParamInfo<PointStoreCase>& info) { return info.param.name; }

class PointStoreContract : public ::testing::TestWithParam<PointStoreCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = store().create_collection(call_, wanted("notes")).value().corpus;
  }

  PointStore& store() { return harness_->points(); }

  Collection wanted(std::string_view name) {
    Collection out;
    out.corpus.workspace = workspace_;
    out.corpus.name = name;
    out.corpus.space = {"client", kDimension, Distance::kDot};
    out.corpus.named_spaces = {{"image", 2, Distance::kEuclid}};
    out.config = R"({"hnsw_config":{"m":8}})";
    return out;
  }

  static DocumentDraft draft(const PointId& id, const std::string& payload, bool with_vector = true) {
    DocumentDraft out = draft_of(document_key_of(id), {"text of " + to_string(id)});
    out.content_hash += payload;
    out.chunks[0].point = PointDraft{.id = id, .payload = payload, .named_vectors = {{"image", {1, 2}}}};
    if (!with_vector) out.chunks[0].vectors.clear();
    return out;
  }

  Generation put(const std::vector<DocumentDraft>& drafts, const std::vector<std::string>& deleted = {}) {
    const auto receipt = harness_->chunks().commit(call_, corpus_.id, drafts, deleted);
    EXPECT_TRUE(receipt.has_value()) << receipt.error().message;
    return receipt ? receipt->generation : 0;
  }

  std::vector<std::string> scroll(const std::optional<PointId>& from = {}, std::size_t limit = 100) {
    std::vector<std::string> out;
    const auto found = store().scroll(call_, corpus_.id, from, limit, PointVectors::kLeftOut).value();
    for (const Point& point : found) out.push_back(to_string(point.id));
    return out;
  }

  std::vector<std::string> visited(Generation generation, const std::vector<ChunkId>* among = nullptr) {
    std::vector<std::string> out;
    const auto done = store().visit(call_, corpus_.id, generation, among, [&](const PointView& point) -> Result<void> {
      out.push_back(to_string(point.id) + std::string(point.payload));
      return {};
    });
    EXPECT_TRUE(done.has_value());
    std::ranges::sort(out);
    return out;
  }

  std::optional<std::vector<ChunkId>> look_up(Generation generation, const std::string& field, const std::vector<PayloadKey>& values) {
    return store().looked_up(call_, corpus_.id, generation, field, values).value();
  }

  static PointId number(std::uint64_t value) { return {value}; }
  const PointId uuid_ = parse_point_id("550e8400-e29b-41d4-a716-446655440000").value();

  const CallContext call_;
  std::unique_ptr<PointStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  Corpus corpus_;
};

TEST_P(PointStoreContract, APointReadsBackAsItWasWritten) {
  const Generation generation = put({draft(number(7), R"({"a":1})")});
  const PointId ids[] = {number(8), number(7)};
  const auto found = store().points(call_, corpus_.id, ids, PointVectors::kRead).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, number(7));
  EXPECT_EQ(found[0].payload, R"({"a":1})");
  EXPECT_EQ(found[0].version, generation);
  EXPECT_FALSE(found[0].is_passage);
  EXPECT_EQ(found[0].vector.size(), static_cast<std::size_t>(kDimension));
  EXPECT_EQ(found[0].named_vectors.at("image"), (std::vector<float>{1, 2}));
  const ChunkId chunks[] = {found[0].chunk};
  EXPECT_EQ(store().points_of(call_, corpus_.id, chunks, PointVectors::kLeftOut).value().at(0).id, number(7));
}

TEST_P(PointStoreContract, PassagesArePointsThatKeepTheirIds) {
  put({draft_of("a.md", {"first", "second"})});
  const auto before = store().scroll(call_, corpus_.id, {}, 10, PointVectors::kRead).value();
  ASSERT_EQ(before.size(), 2U);
  for (const Point& point : before) {
    EXPECT_TRUE(point.is_passage);
    EXPECT_EQ(point.document_key, "a.md");
    const Json payload = parse_json(point.payload).value();
    for (const char* key : {"url", "text", "chunk_ix", "ts", "source", "title", "key"}) {
      EXPECT_TRUE(payload.get_object().contains(key)) << key;
    }
    EXPECT_EQ(point.id, point_of_passage("a.md", static_cast<int>(payload.get_object().at("chunk_ix").get_int64())));
  }
  const std::vector<std::string> ids = scroll();
  put({draft_of("a.md", {"first", "changed"})});
  EXPECT_EQ(scroll(), ids);
}

TEST_P(PointStoreContract, NumbersComeBeforeUuidsAndPagesStartWhereAsked) {
  put({draft(uuid_, "{}"), draft(number(10), "{}"), draft(number(9), "{}"), draft(number(1ULL << 63), "{}")});
  EXPECT_THAT(scroll(), ::testing::ElementsAre("9", "10", "9223372036854775808", to_string(uuid_)));
  EXPECT_THAT(scroll(number(10), 2), ::testing::ElementsAre("10", "9223372036854775808"));
  std::vector<std::string> all;
  ASSERT_TRUE(store()
                  .each(call_, corpus_.id,
                        [&](const Point& point) -> Result<void> {
                          all.push_back(to_string(point.id));
                          return {};
                        })
                  .has_value());
  EXPECT_EQ(all, scroll());
}

TEST_P(PointStoreContract, AnOlderGenerationSeesOlderPayloads) {
  const Generation first = put({draft(number(1), R"({"v":1})"), draft(number(2), R"({"v":1})")});
  const Generation second = put({draft(number(1), R"({"v":2})")}, {document_key_of(number(2))});
  EXPECT_THAT(visited(first), ::testing::ElementsAre(R"(1{"v":1})", R"(2{"v":1})"));
  EXPECT_THAT(visited(second), ::testing::ElementsAre(R"(1{"v":2})"));
  EXPECT_THAT(scroll(), ::testing::ElementsAre("1"));
  const std::vector<ChunkId> none;
  EXPECT_TRUE(visited(second, &none).empty());
}

TEST_P(PointStoreContract, APointMayHaveNoVectors) {
  put({draft(number(1), "{}", false)});
  const PointId ids[] = {number(1)};
  EXPECT_TRUE(store().points(call_, corpus_.id, ids, PointVectors::kRead).value().at(0).vector.empty());
  const auto changes = harness_->chunks().changes(call_, corpus_.id, 0, 100).value();
  ASSERT_EQ(changes.added.size(), 1U);
  EXPECT_TRUE(changes.added[0].vectors.empty());
  EXPECT_EQ(changes.added[0].named_vectors.at("image"), (std::vector<std::vector<float>>{{1, 2}}));
  EXPECT_EQ(changes.distance, Distance::kDot);
  EXPECT_EQ(changes.named_spaces, corpus_.named_spaces);
}

TEST_P(PointStoreContract, WhatDoesNotFitIsRefusedAndChangesNothing) {
  DocumentDraft space = draft(number(1), "{}");
  space.chunks[0].point->named_vectors = {{"sound", {1, 2}}};
  DocumentDraft dimension = draft(number(1), "{}");
  dimension.chunks[0].point->named_vectors = {{"image", {1, 2, 3}}};
  const DocumentDraft payload = draft(number(1), "[1]");
  for (const DocumentDraft& bad : {space, dimension, payload}) {
    EXPECT_FALSE(harness_->chunks().commit(call_, corpus_.id, std::vector{draft(number(2), "{}"), bad}, {}).has_value());
  }
  EXPECT_TRUE(scroll().empty());
}

TEST_P(PointStoreContract, DeclaredKeysAreLookedUp) {
  const Generation first = put({draft(number(1), R"({"c":"x","n":1})"), draft(number(2), R"({"c":["x","y"],"n":2})")});
  EXPECT_EQ(look_up(first, "c", {PayloadKey{std::string("x")}}), std::nullopt);
  ASSERT_TRUE(store().put_index(call_, corpus_.id, {"c", PayloadKind::kKeyword, R"("keyword")"}).has_value());
  ASSERT_TRUE(store().put_index(call_, corpus_.id, {"n", PayloadKind::kInteger, R"("integer")"}).has_value());
  EXPECT_EQ(look_up(first, "c", {PayloadKey{std::string("x")}})->size(), 2U);
  EXPECT_EQ(look_up(first, "c", {PayloadKey{std::string("y")}, PayloadKey{std::string("z")}})->size(), 1U);
  EXPECT_EQ(look_up(first, "c", {PayloadKey{std::int64_t{1}}}), std::nullopt);
  const Generation second = put({draft(number(3), R"({"c":"y","n":1})")}, {document_key_of(number(2))});
  EXPECT_EQ(look_up(first, "c", {PayloadKey{std::string("y")}})->size(), 1U);
  EXPECT_EQ(look_up(second, "n", {PayloadKey{std::int64_t{1}}})->size(), 2U);
  EXPECT_EQ(store().indexes(call_, corpus_.id).value().at(1).field, "n");
  EXPECT_TRUE(store().delete_index(call_, corpus_.id, "c").value());
  EXPECT_FALSE(store().delete_index(call_, corpus_.id, "c").value());
  EXPECT_EQ(look_up(second, "c", {PayloadKey{std::string("y")}}), std::nullopt);
}

TEST_P(PointStoreContract, PassagesAreLookedUpToo) {
  ASSERT_TRUE(store().put_index(call_, corpus_.id, {"key", PayloadKind::kKeyword, R"("keyword")"}).has_value());
  const Generation generation = put({draft_of("a.md", {"one", "two"}), draft_of("b.md", {"three"})});
  EXPECT_EQ(look_up(generation, "key", {PayloadKey{std::string("a.md")}})->size(), 2U);
}

TEST_P(PointStoreContract, ACollectionIsMadeOnceAndKeepsItsShape) {
  const Collection found = store().collection(call_, workspace_, "notes").value();
  EXPECT_EQ(found.corpus.space, corpus_.space);
  EXPECT_EQ(found.corpus.named_spaces, corpus_.named_spaces);
  EXPECT_EQ(found.config, wanted("notes").config);
  EXPECT_EQ(store().create_collection(call_, wanted("notes")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(store().collection(call_, harness_->other_workspace(), "notes").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(store().set_config(call_, corpus_.id, "{}").has_value());
  EXPECT_EQ(store().collection(call_, workspace_, "notes")->config, "{}");
  EXPECT_EQ(harness_->catalog().find_corpus(call_, workspace_, "notes")->space, corpus_.space);
}

TEST_P(PointStoreContract, ADeletedCollectionIsGoneAndItsNameFree) {
  put({draft(number(1), "{}"), draft_of("a.md", {"one"})});
  const AliasChange alias[] = {MakeAlias{"n", "notes"}};
  ASSERT_TRUE(store().change_aliases(call_, workspace_, alias).has_value());
  ASSERT_TRUE(store().delete_collection(call_, corpus_.id).has_value());
  EXPECT_EQ(store().collection(call_, workspace_, "notes").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().collection(call_, workspace_, "n").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().delete_collection(call_, corpus_.id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(harness_->chunks().counts(call_, corpus_.id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(harness_->catalog().corpora(call_, workspace_)->empty());
  corpus_ = store().create_collection(call_, wanted("notes")).value().corpus;
  EXPECT_TRUE(scroll().empty());
}

TEST_P(PointStoreContract, AliasesChangeAllOrNone) {
  const auto change = [&](const std::vector<AliasChange>& changes) { return store().change_aliases(call_, workspace_, changes); };
  ASSERT_TRUE(change({MakeAlias{"a", "notes"}, MakeAlias{"b", "notes"}, RenameAlias{"b", "c"}}).has_value());
  EXPECT_EQ(store().collection(call_, workspace_, "c")->corpus.id, corpus_.id);
  EXPECT_EQ(change({DropAlias{"a"}, MakeAlias{"d", "nobody"}}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(change({MakeAlias{"notes", "notes"}}).error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(store().create_collection(call_, wanted("a")).error().code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(store().aliases(call_, workspace_).value(),
              ::testing::ElementsAre(CollectionAlias{"a", "notes"}, CollectionAlias{"c", "notes"}));
  EXPECT_TRUE(store().aliases(call_, harness_->other_workspace())->empty());
}

}  // namespace footnote::contract
