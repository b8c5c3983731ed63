#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "contracts/chunk_drafts.h"
#include "contracts/stopped_call.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/job_store.h"
#include "ports/source_store.h"

/// What every SourceStore must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Sqlite, SourceStoreContract, ::testing::Values(SourceStoreCase{"sqlite", make}), source_store_case_name);
namespace footnote::contract {

/// A store, empty, with what the suite needs around it.
class SourceStoreHarness {
 public:
  virtual ~SourceStoreHarness() = default;
  virtual SourceStore& sources() = 0;
  virtual JobStore& jobs() = 0;
  virtual ChunkStore& chunks() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  /// A workspace beside the default one.
  virtual WorkspaceId other_workspace() = 0;
};

struct SourceStoreCase {
  std::string name;
  std::function<std::unique_ptr<SourceStoreHarness>()> make;
};

inline std::string source_store_case_name(const ::testing::TestParamInfo<SourceStoreCase>& info) { return info.param.name; }

class SourceStoreContract : public ::testing::TestWithParam<SourceStoreCase> {
 protected:
  void SetUp() override {
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = harness_->catalog().ensure_corpus(call_, workspace_, "docs", {"model-a", kDimension}).value().id;
  }

  SourceStore& store() { return harness_->sources(); }
  UtcTime now() { return harness_->clock().now(); }
  SourceSpec spec(std::string location = "/srv/docs") {
    return {.corpus = corpus_, .kind = SourceKind::kFolder, .location = std::move(location)};
  }
  SourceRecord add(std::string location = "/srv/docs") { return store().put(call_, spec(std::move(location))).value().record; }
  SourceRecord read(SourceId id) { return store().source(call_, workspace_, id).value(); }
  void commit(SourceId source, const std::string& key, const std::vector<std::string>& chunks) {
    DocumentDraft draft = draft_of(key, chunks);
    draft.source = source;
    ASSERT_TRUE(harness_->chunks().commit(call_, corpus_, {&draft, 1}, {}).has_value());
  }
  std::vector<std::string> keys() {
    std::vector<std::string> out;
    const auto listed = harness_->chunks().documents(call_, corpus_, "", 100).value();
    for (const Document& document : listed) out.push_back(document.key);
    return out;
  }

  const CallContext call_;
  std::unique_ptr<SourceStoreHarness> harness_ = GetParam().make();
  WorkspaceId workspace_;
  CorpusId corpus_;
};

TEST_P(SourceStoreContract, ASourceComesBackAsItWasDescribed) {
  SourceSpec wanted = spec();
  wanted.title = "Handbook";
  wanted.content = "text";
  wanted.options = {{"prefix", "a/"}, {"depth", "2"}};
  wanted.interval = std::chrono::hours{1};
  wanted.watch = true;
  const auto made = store().put(call_, wanted).value();
  EXPECT_TRUE(made.created);
  EXPECT_EQ(made.record.spec, wanted);
  EXPECT_EQ(made.record.workspace, workspace_);
  EXPECT_EQ(made.record.created_at, now());
  EXPECT_EQ(made.record.next_at, now() + std::chrono::hours{1});
  EXPECT_FALSE(made.record.synced_at.has_value());
  EXPECT_EQ(read(made.record.id).spec, wanted);
  EXPECT_EQ(store().watched(call_)->size(), 1U);
}

TEST_P(SourceStoreContract, TheSamePlaceIsTheSameSource) {
  const SourceRecord first = add();
  SourceSpec again = spec();
  again.title = "Better";
  const auto put = store().put(call_, again).value();
  EXPECT_FALSE(put.created);
  EXPECT_EQ(put.record.id, first.id);
  EXPECT_EQ(put.record.spec.title, "Better");
  EXPECT_NE(add("/srv/other").id, first.id);
  const Source by_catalog = harness_->catalog().ensure_source(call_, corpus_, SourceKind::kFolder, "/srv/docs").value();
  EXPECT_EQ(by_catalog.id, first.id);
  const Source older = harness_->catalog().ensure_source(call_, corpus_, SourceKind::kUpload, "").value();
  std::vector<SourceId> ids;
  const auto listed = store().sources(call_, workspace_).value();
  for (const SourceRecord& record : listed) ids.push_back(record.id);
  EXPECT_THAT(ids, ::testing::ElementsAre(first.id, ::testing::_, older.id));
}

TEST_P(SourceStoreContract, WhatIsWrongIsNotStored) {
  const auto field = [&](auto change) {
    SourceSpec wrong = spec();
    change(wrong);
    return store().put(call_, wrong).error().field;
  };
  EXPECT_EQ(field([](SourceSpec& wrong) { wrong.title.assign(kSourceTitleBytesMax + 1, 'x'); }), "title");
  EXPECT_EQ(field([](SourceSpec& wrong) { wrong.location = "\xff"; }), "location");
  EXPECT_EQ(field([](SourceSpec& wrong) { wrong.content.assign(kSourceContentBytesMax + 1, 'x'); }), "content");
  EXPECT_EQ(field([](SourceSpec& wrong) { wrong.interval = std::chrono::seconds{59}; }), "interval_seconds");
  SourceSpec elsewhere = spec();
  elsewhere.corpus = {4711};
  EXPECT_EQ(store().put(call_, elsewhere).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().sources(call_, workspace_)->empty());
}

TEST_P(SourceStoreContract, SourcesHaveABound) {
  for (std::size_t i = 0; i < kSourcesMax; ++i) add("/srv/" + std::to_string(i));
  EXPECT_EQ(store().put(call_, spec("/srv/more")).error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(store().put(call_, spec("/srv/0")).has_value()) << "it is there already";
}

TEST_P(SourceStoreContract, AScheduleComesDue) {
  SourceSpec wanted = spec();
  wanted.interval = std::chrono::seconds{60};
  const SourceId id = store().put(call_, wanted)->record.id;
  add("/srv/never");
  const auto due = [&] { return store().due(call_, now(), 10).value(); };
  EXPECT_TRUE(due().empty());
  harness_->clock().advance(std::chrono::seconds{60});
  ASSERT_EQ(due().size(), 1U);
  EXPECT_EQ(due()[0].id, id);
  ASSERT_TRUE(store().postpone(call_, id, now() + std::chrono::seconds{5}).has_value());
  EXPECT_TRUE(due().empty());
  harness_->clock().advance(std::chrono::seconds{5});
  EXPECT_EQ(due().size(), 1U);
  ASSERT_TRUE(store().note_sync(call_, id, now(), "").has_value());
  EXPECT_TRUE(due().empty());
  EXPECT_EQ(read(id).next_at, now() + std::chrono::seconds{60});
  ASSERT_TRUE(store().put(call_, wanted).has_value());
  EXPECT_EQ(read(id).next_at, now() + std::chrono::seconds{60}) << "the same schedule goes on";
}

TEST_P(SourceStoreContract, AFailedSyncIsNoSync) {
  const SourceId id = add().id;
  ASSERT_TRUE(store().note_sync(call_, id, now(), "no such folder").has_value());
  EXPECT_FALSE(read(id).synced_at.has_value());
  EXPECT_EQ(read(id).error, "no such folder");
  ASSERT_TRUE(store().note_sync(call_, id, now(), "").has_value());
  EXPECT_EQ(read(id).synced_at, now());
  EXPECT_EQ(read(id).error, "");
  EXPECT_TRUE(store().note_sync(call_, {4711}, now(), "").has_value()) << "a source that is gone is no error";
}

TEST_P(SourceStoreContract, FailuresAreReplaced) {
  const SourceId id = add().id;
  const std::vector<SourceFailure> failures = {{"a.pdf", "s1", "no text", 2, now()}, {"b.pdf", "", "locked", 1, now()}};
  ASSERT_TRUE(store().set_failures(call_, id, failures).has_value());
  EXPECT_EQ(store().failures(call_, id).value(), failures);
  ASSERT_TRUE(store().set_failures(call_, id, std::span(failures).first(1)).has_value());
  EXPECT_EQ(store().failures(call_, id)->size(), 1U);
  std::vector<SourceFailure> many;
  for (std::size_t i = 0; i <= kSourceFailuresMax; ++i) many.push_back({"k" + std::to_string(i), "", "x", 1, now()});
  ASSERT_TRUE(store().set_failures(call_, id, many).has_value());
  EXPECT_EQ(store().failures(call_, id)->size(), kSourceFailuresMax);
  EXPECT_TRUE(store().set_failures(call_, {4711}, failures).has_value());
}

TEST_P(SourceStoreContract, DocumentsAreCountedNow) {
  const SourceId id = add().id;
  EXPECT_EQ(store().counts(call_, id).value(), (SourceCounts{0, 0}));
  commit(id, "a.md", {"one", "two"});
  commit(id, "b.md", {"three"});
  commit(add("/srv/other").id, "c.md", {"four"});
  EXPECT_EQ(store().counts(call_, id).value(), (SourceCounts{2, 3}));
  commit(id, "a.md", {"one"});
  EXPECT_EQ(store().counts(call_, id).value(), (SourceCounts{2, 2}));
}

TEST_P(SourceStoreContract, DocumentsGoWithTheirSource) {
  const SourceId id = add().id;
  const SourceId other = add("/srv/other").id;
  commit(id, "a.md", {"one", "two"});
  commit(id, "b.md", {"three"});
  commit(other, "c.md", {"four"});
  const Job waiting =
      harness_->jobs()
          .enqueue(call_, {.id = {}, .workspace = workspace_, .corpus = {}, .source = id, .kind = "sync", .input = ""}, JobStore::Join::kNo)
          .value();
  const Generation before = harness_->catalog().corpus(call_, corpus_)->generation;
  EXPECT_EQ(store().erase(call_, workspace_, id).value(), 2U);
  EXPECT_EQ(harness_->catalog().corpus(call_, corpus_)->generation, before + 1) << "in one step";
  EXPECT_THAT(keys(), ::testing::ElementsAre("c.md"));
  EXPECT_EQ(harness_->chunks().counts(call_, corpus_)->chunks, 1);
  EXPECT_EQ(store().source(call_, workspace_, id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().erase(call_, workspace_, id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(harness_->jobs().job(call_, workspace_, waiting.id)->state, JobState::kCancelled);
  // A sync that still runs must not bring the documents back.
  DocumentDraft late = draft_of("a.md", {"one"});
  late.source = id;
  EXPECT_EQ(harness_->chunks().commit(call_, corpus_, {&late, 1}, {}).error().code, ErrorCode::kNotFound);
  const SourceRecord again = add();
  EXPECT_NE(again.id, id);
  commit(again.id, "a.md", {"one"});
  EXPECT_THAT(keys(), ::testing::ElementsAre("a.md", "c.md"));
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(harness_->chunks().purge(call_, corpus_, now()).has_value());
  EXPECT_THAT(keys(), ::testing::ElementsAre("a.md", "c.md"));
}

TEST_P(SourceStoreContract, AnotherWorkspacesSourceIsNotThere) {
  const SourceId id = add().id;
  const WorkspaceId other = harness_->other_workspace();
  EXPECT_EQ(store().source(call_, other, id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().erase(call_, other, id).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store().sources(call_, other)->empty());
}

TEST_P(SourceStoreContract, AStoppedCallWritesNothing) {
  EXPECT_EQ(store().put(stopped_call(), spec()).error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(store().sources(call_, workspace_)->empty());
}

}  // namespace footnote::contract
