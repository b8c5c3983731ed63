#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contracts/chunk_drafts.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/edge_store.h"

/// What every EdgeStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, EdgeStoreContract, ::testing::Values(EdgeStoreCase{"sqlite", make}), edge_store_case_name);
namespace footnote::contract {

/// A store, empty, with the documents that its edges refer to.
class EdgeStoreHarness {
 public:
  virtual ~EdgeStoreHarness() = default;
  virtual EdgeStore& edges() = 0;
  virtual ChunkStore& chunks() = 0;
  virtual CatalogStore& catalog() = 0;
};

struct EdgeStoreCase {
  std::string name;
  std::function<std::unique_ptr<EdgeStoreHarness>()> make;
};

inline std::string edge_store_case_name(const ::testing::TestParamInfo<EdgeStoreCase>& info) { return info.param.name; }

class EdgeStoreContract : public ::testing::TestWithParam<EdgeStoreCase> {
 protected:
  void SetUp() override {
    const WorkspaceId workspace = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = harness_->catalog().ensure_corpus(call_, workspace, "memory", {"model-a", 2}).value().id;
  }
  void commit(std::string key, std::vector<Edge> edges = {}) {
    DocumentDraft draft;
    draft.key = key;
    draft.content_hash = key + std::to_string(++commits_);
    draft.text = "text";
    draft.chunks.push_back(
        {.text = "text", .source_type = "doc", .content_hash = draft.content_hash, .range = {0, 4}, .vectors = {{1, 0}}});
    draft.edges = std::move(edges);
    const auto done = harness_->chunks().commit(call_, corpus_, std::vector{draft}, {});
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  /// "type target" of the edges from these documents.
  std::vector<std::string> from(std::vector<std::string> keys, std::size_t limit = 20) {
    std::vector<std::string> out;
    const auto edges = harness_->edges().edges_from(call_, corpus_, keys, limit).value();
    for (const Edge& edge : edges) out.push_back(edge.type + " " + edge.to_key);
    return out;
  }

  const CallContext call_;
  std::unique_ptr<EdgeStoreHarness> harness_ = GetParam().make();
  CorpusId corpus_;
  int commits_ = 0;
};

TEST_P(EdgeStoreContract, WhatTextsStateComesStrongestFirst) {
  commit("kb/b.md");
  commit("c.md");
  commit("kb/a.md", {{"kb/a.md", "c.md", "related_to", "wikilink", 0.5},
                     {"kb/a.md", "b", "depends_on", "frontmatter_related", 0.8},
                     {"kb/a.md", "gone.md", "implements", "wikilink", 1.0}});
  EXPECT_THAT(from({"kb/a.md"}), ::testing::ElementsAre("depends_on kb/b.md", "related_to c.md")) << "a slug is a file of the same folder";
  EXPECT_THAT(from({"kb/a.md", "c.md"}, 2), ::testing::ElementsAre("depends_on kb/b.md"))
      << "the limit counts before targets are looked up";
  EXPECT_THAT(from({"c.md"}), ::testing::IsEmpty()) << "edges lead one way";
}

TEST_P(EdgeStoreContract, ANewVersionStatesItsOwn) {
  commit("b.md");
  commit("a.md", {{"a.md", "b.md", "uses", "wikilink", 0.8}});
  commit("a.md");
  EXPECT_THAT(from({"a.md"}), ::testing::IsEmpty());
}

TEST_P(EdgeStoreContract, ClientsAddReplaceAndRemove) {
  commit("a.md");
  commit("b.md");
  EdgeStore& edges = harness_->edges();
  const Edge edge{"a.md", "b.md", "implements", "api", 1.0};
  ASSERT_TRUE(edges.put_edge(call_, corpus_, edge).has_value());
  ASSERT_TRUE(edges.put_edge(call_, corpus_, edge).has_value());
  EXPECT_THAT(from({"a.md"}), ::testing::ElementsAre("implements b.md"));
  commit("a.md");
  EXPECT_THAT(from({"a.md"}), ::testing::ElementsAre("implements b.md")) << "a new version does not take it away";
  EXPECT_TRUE(edges.remove_edge(call_, corpus_, edge).value());
  EXPECT_FALSE(edges.remove_edge(call_, corpus_, edge).value());
  EXPECT_THAT(from({"a.md"}), ::testing::IsEmpty());
}

TEST_P(EdgeStoreContract, AnUnknownCorpusIsNotFound) {
  const Edge edge{"a.md", "b.md", "uses", "api", 0.8};
  const std::vector<std::string> keys{"a.md"};
  EXPECT_EQ(harness_->edges().put_edge(call_, {987654}, edge).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(harness_->edges().remove_edge(call_, {987654}, edge).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(harness_->edges().edges_from(call_, {987654}, keys, 1).error().code, ErrorCode::kNotFound);
}

}  // namespace footnote::contract
