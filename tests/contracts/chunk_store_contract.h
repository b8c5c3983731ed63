#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/sha256.h"
#include "contracts/chunk_drafts.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"

namespace footnote::contract {

/// An empty store to test, and what the suite needs around it.
class ChunkStoreHarness {
 public:
  virtual ~ChunkStoreHarness() = default;
  virtual ChunkStore& chunks() = 0;
  virtual CatalogStore& catalog() = 0;
  virtual ManualClock& clock() = 0;
  /// A second workspace.
  virtual WorkspaceId other_workspace() = 0;
};

using MakeChunkStore = std::unique_ptr<ChunkStoreHarness> (*)();

/// An index that knows only what changes() returned.
class ModelIndex {
 public:
  void apply(const IndexChanges& changes) {
    ASSERT_EQ(changes.from, generation_);
    for (const IndexRow& row : changes.added) ASSERT_TRUE(rows_.emplace(row.chunk, State{row, {}}).second);
    for (const IndexRemoval& removal : changes.removed) {
      if (const auto row = rows_.find(removal.chunk); row != rows_.end()) row->second.died = removal.died;
    }
    generation_ = changes.to;
  }

  /// "key: text" of each chunk that is visible in a generation.
  std::multiset<std::string> visible(Generation generation) const {
    std::multiset<std::string> out;
    for (const auto& [id, state] : rows_) {
      if (state.row.born <= generation && (!state.died || generation < *state.died))
        out.insert(state.row.document_key + ": " + state.row.text);
    }
    return out;
  }
  std::vector<ChunkId> ids() const {
    std::vector<ChunkId> out;
    for (const auto& [id, state] : rows_) out.push_back(id);
    return out;
  }
  Generation generation() const { return generation_; }

 private:
  struct State {
    IndexRow row;
    std::optional<Generation> died;
  };
  std::map<ChunkId, State> rows_;
  Generation generation_ = 0;
};

/// What every ChunkStore must do. Include in one source of a test program and name the stores to test:
///   INSTANTIATE_TEST_SUITE_P(Sqlite, ChunkStoreContract, ::testing::Values(&make_sqlite_store));
class ChunkStoreContract : public ::testing::TestWithParam<MakeChunkStore> {
 protected:
  void SetUp() override {
    harness_ = GetParam()();
    workspace_ = harness_->catalog().find_workspace(call_, kDefaultWorkspace).value().id;
    corpus_ = harness_->catalog().ensure_corpus(call_, workspace_, kDefaultCorpus, space_).value().id;
  }

  ChunkStore& store() { return harness_->chunks(); }

  CommitReceipt commit(const std::vector<DocumentDraft>& drafts, const std::vector<std::string>& deleted = {}) {
    auto receipt = store().commit(call_, corpus_, drafts, deleted);
    EXPECT_TRUE(receipt.has_value()) << receipt.error().message;
    return receipt.value_or(CommitReceipt{});
  }
  /// Reads page by page until there is nothing new.
  void follow(ModelIndex& index, std::size_t rows_max = 1000) {
    for (;;) {
      auto changes = store().changes(call_, corpus_, index.generation(), rows_max);
      ASSERT_TRUE(changes.has_value()) << changes.error().message;
      if (changes->to == changes->from) return;
      ASSERT_NO_FATAL_FAILURE(index.apply(*changes));
    }
  }
  std::multiset<std::string> visible_now() {
    ModelIndex index;
    follow(index);
    return index.visible(index.generation());
  }
  Generation generation() { return harness_->catalog().corpus(call_, corpus_).value().generation; }

  const CallContext call_;
  const EmbeddingSpace space_{"test-model", kDimension};
  std::unique_ptr<ChunkStoreHarness> harness_;
  WorkspaceId workspace_;
  CorpusId corpus_;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(ChunkStoreContract, GivesBackWhatWasCommitted) {
  const SourceId source = harness_->catalog().ensure_source(call_, corpus_, SourceKind::kFolder, "/docs").value().id;
  DocumentDraft draft = draft_of("guide/a.md", {"First part. ", "Zwölf Boxkämpfer."});
  draft.source = source;
  draft.attributes = {.title = "Guide \"A\"",
                      .url = "https://example.org/a",
                      .media_type = "text/markdown",
                      .language = "en",
                      .canonical_type = "runbook",
                      .status = DocumentStatus::kReview,
                      .evidence = EvidenceTier::kOfficial,
                      .priority = 80,
                      .tags = {"x", "y z"},
                      .acl_labels = {"staff"}};
  draft.chunks[1].heading_path = {"Guide", "Part \"two\""};
  draft.chunks[1].symbol = "ns::f";
  draft.chunks[1].source_type = "code";
  draft.chunks[1].first_line = 3;
  draft.chunks[1].last_line = 9;
  draft.chunks[1].places = {PlaceUnit::kPage, {{0, 3}, {4, 9}}};
  draft.chunks[1].vectors.push_back({0.125F, -1.0F, 3e-30F, 0.1F});
  draft.edges = {{"guide/a.md", "guide/b.md", "depends_on", "wikilink", 0.5}};

  const CommitReceipt receipt = commit({draft});
  EXPECT_EQ(receipt.generation, 1);
  ASSERT_EQ(receipt.documents.size(), 1U);
  const Document made = receipt.documents[0];

  const auto found = store().find_document(call_, corpus_, draft.key).value();
  ASSERT_TRUE(found.has_value());
  for (const Document& document : {made, *found}) {
    EXPECT_EQ(document.id, made.id);
    EXPECT_EQ(document.corpus, corpus_);
    EXPECT_EQ(document.source, source);
    EXPECT_EQ(document.key, draft.key);
    EXPECT_EQ(document.version, 1);
    EXPECT_EQ(document.content_hash, draft.content_hash);
    EXPECT_EQ(document.attributes, draft.attributes);
    EXPECT_EQ(document.chunk_count, 2U);
    EXPECT_EQ(document.indexed_at, harness_->clock().now());
  }
  const auto text = store().document_text(call_, workspace_, made.id, 0);
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->text, draft.text);
  EXPECT_EQ(text->document.key, draft.key);

  const IndexChanges changes = store().changes(call_, corpus_, 0, 100).value();
  ASSERT_EQ(changes.added.size(), 2U);
  EXPECT_EQ(changes.added[1].vectors, draft.chunks[1].vectors);
  EXPECT_EQ(changes.added[1].heading_path, draft.chunks[1].heading_path);
  EXPECT_EQ(changes.added[1].attributes, draft.attributes);

  const ChunkId asked[] = {changes.added[1].chunk, {987654}, changes.added[0].chunk};
  const auto records = store().chunks(call_, corpus_, asked).value();
  ASSERT_EQ(records.size(), 2U);
  const Chunk& second = records[0].chunk;
  EXPECT_EQ(second.id, asked[0]);
  EXPECT_EQ(second.document, made.id);
  EXPECT_EQ(second.document_version, 1);
  EXPECT_EQ(second.ordinal, 1);
  EXPECT_EQ(second.text, draft.chunks[1].text);
  EXPECT_EQ(second.heading_path, draft.chunks[1].heading_path);
  EXPECT_EQ(second.symbol, "ns::f");
  EXPECT_EQ(second.source_type, "code");
  EXPECT_EQ(second.content_hash, draft.chunks[1].content_hash);
  EXPECT_EQ(second.range, draft.chunks[1].range);
  EXPECT_EQ(second.first_line, 3);
  EXPECT_EQ(second.last_line, 9);
  EXPECT_EQ(second.places, (Places{PlaceUnit::kPage, {{0, 3}, {4, 9}}}));
  EXPECT_EQ(second.born, 1);
  EXPECT_EQ(second.died, std::nullopt);
  EXPECT_EQ(records[0].document_key, draft.key);
  EXPECT_EQ(records[0].document, draft.attributes);
  EXPECT_EQ(records[1].chunk.id, asked[2]);
}

TEST_P(ChunkStoreContract, ReplacesADocumentInOneStep) {
  commit({draft_of("a", {"old 1", "old 2"}), draft_of("b", {"stays"})});
  const CommitReceipt second = commit({draft_of("a", {"new 1", "new 2", "new 3"})});
  EXPECT_EQ(second.generation, 2);
  EXPECT_EQ(second.documents[0].version, 2);

  ModelIndex index;
  follow(index);
  EXPECT_THAT(index.visible(0), IsEmpty());
  EXPECT_THAT(index.visible(1), ElementsAre("a: old 1", "a: old 2", "b: stays"));
  EXPECT_THAT(index.visible(2), ElementsAre("a: new 1", "a: new 2", "a: new 3", "b: stays"));

  const DocumentId id = second.documents[0].id;
  EXPECT_EQ(store().document_text(call_, workspace_, id, 1)->text, "old 1old 2");
  EXPECT_EQ(store().document_text(call_, workspace_, id, 2)->text, "new 1new 2new 3");
  EXPECT_EQ(store().document_text(call_, workspace_, id, 0)->document.version, 2);
  EXPECT_EQ(store().document_text(call_, workspace_, id, 3).error().code, ErrorCode::kNotFound);
  // A reader of generation 1 can still read what it found there.
  const auto old = store().chunks(call_, corpus_, index.ids()).value();
  EXPECT_EQ(std::ranges::count_if(old, [](const auto& record) { return record.chunk.died == 2; }), 2);
}

TEST_P(ChunkStoreContract, MakesNoGenerationWhenNothingChanged) {
  const DocumentDraft draft = draft_of("a", {"text"});
  const CommitReceipt first = commit({draft});
  const CommitReceipt again = commit({draft}, {"never-there"});
  EXPECT_EQ(again.generation, first.generation);
  EXPECT_EQ(again.deleted, 0U);
  ASSERT_EQ(again.documents.size(), 1U);
  EXPECT_EQ(again.documents[0].id, first.documents[0].id);
  EXPECT_EQ(again.documents[0].version, 1);
  EXPECT_EQ(generation(), 1);
  EXPECT_EQ(commit({}).generation, 1);

  DocumentDraft tagged = draft;
  tagged.attributes.tags = {"new"};
  EXPECT_EQ(commit({tagged}).generation, 2);
  EXPECT_EQ(store().find_document(call_, corpus_, "a").value()->attributes.tags, tagged.attributes.tags);

  // One of two documents is unchanged: only the other gets a new version.
  const CommitReceipt mixed = commit({tagged, draft_of("b", {"other"})});
  EXPECT_EQ(mixed.generation, 3);
  EXPECT_EQ(mixed.documents[0].version, 2);
  EXPECT_EQ(mixed.documents[1].version, 1);
}

TEST_P(ChunkStoreContract, DeletesAndTakesBack) {
  const DocumentId id = commit({draft_of("a", {"one"}), draft_of("b", {"two"})}).documents[0].id;
  const std::vector<std::string> keys{"a", "unknown"};
  const CommitReceipt deleted = commit({}, keys);
  EXPECT_EQ(deleted.generation, 2);
  EXPECT_EQ(deleted.deleted, 1U);
  EXPECT_EQ(store().find_document(call_, corpus_, "a").value(), std::nullopt);
  EXPECT_EQ(store().document_text(call_, workspace_, id, 0).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().document_text(call_, workspace_, id, 1).error().code, ErrorCode::kNotFound) << "deleted means gone, not at the purge";
  EXPECT_EQ(store().document_text(call_, workspace_, id, 1).error().message,
            store().document_text(call_, workspace_, id, 7).error().message);
  EXPECT_THAT(visible_now(), ElementsAre("b: two"));
  EXPECT_EQ(commit({}, keys).generation, 2);

  // The same text again is a change, because the document was deleted.
  const CommitReceipt back = commit({draft_of("a", {"one"})});
  EXPECT_EQ(back.generation, 3);
  EXPECT_EQ(back.documents[0].version, 2);
  EXPECT_THAT(visible_now(), ElementsAre("a: one", "b: two"));
}

TEST_P(ChunkStoreContract, ReplacesAddsAndDeletesInOneGeneration) {
  commit({draft_of("a", {"a1"}), draft_of("b", {"b1"})});
  const CommitReceipt receipt = commit({draft_of("a", {"a2"}), draft_of("c", {"c1"})}, {"b"});
  EXPECT_EQ(receipt.generation, 2);
  ModelIndex index;
  follow(index);
  EXPECT_THAT(index.visible(1), ElementsAre("a: a1", "b: b1"));
  EXPECT_THAT(index.visible(2), ElementsAre("a: a2", "c: c1"));
}

TEST_P(ChunkStoreContract, ListsDocumentsInKeyOrderByPages) {
  commit({draft_of("b", {"1"}), draft_of("a/2", {"2"}), draft_of("a", {"3"}), draft_of("\xC3\xA4", {"4"}), draft_of("gone", {"5"})});
  commit({}, {"gone"});
  std::vector<std::string> keys;
  for (std::string after;;) {
    const auto page = store().documents(call_, corpus_, after, 2).value();
    if (page.empty()) break;
    EXPECT_LE(page.size(), 2U);
    for (const Document& document : page) keys.push_back(document.key);
    after = keys.back();
  }
  EXPECT_THAT(keys, ElementsAre("a", "a/2", "b", "\xC3\xA4"));
}

TEST_P(ChunkStoreContract, CountsWhatIsLive) {
  EXPECT_EQ(store().counts(call_, corpus_)->documents, 0);
  commit({draft_of("a", {"1", "2"}), draft_of("b", {"3"}), draft_of("c", {})});
  commit({draft_of("a", {"4", "5", "6"})}, {"b"});
  const CorpusCounts counts = store().counts(call_, corpus_).value();
  EXPECT_EQ(counts.documents, 2);
  EXPECT_EQ(counts.chunks, 3);
}

TEST_P(ChunkStoreContract, LabelsAreThoseOfNow) {
  DocumentDraft draft = draft_of("a", {"1", "2"});
  const DocumentId id = commit({draft, draft_of("b", {"3"})}).documents[0].id;
  EXPECT_EQ(store().counts(call_, corpus_)->labelled_chunks, 0);
  EXPECT_FALSE(store().document_text(call_, workspace_, id, 1)->labelled);
  draft = draft_of("a", {"4", "5", "6"});
  draft.attributes.acl_labels = {"staff"};
  commit({draft});
  const CorpusCounts counts = store().counts(call_, corpus_).value();
  EXPECT_EQ(counts.documents, 2);
  EXPECT_EQ(counts.chunks, 4);
  EXPECT_EQ(counts.labelled_documents, 1);
  EXPECT_EQ(counts.labelled_chunks, 3);
  EXPECT_TRUE(store().document_text(call_, workspace_, id, 0)->labelled);
  EXPECT_TRUE(store().document_text(call_, workspace_, id, 1)->labelled) << "the version from before the label too";
  commit({draft_of("a", {"7"})});
  EXPECT_TRUE(store().document_text(call_, workspace_, id, 2)->labelled) << "and the one that had it";
  EXPECT_FALSE(store().document_text(call_, workspace_, id, 0)->labelled);
}

TEST_P(ChunkStoreContract, TakesADocumentWithoutChunks) {
  EXPECT_EQ(commit({draft_of("empty", {})}).generation, 1);
  EXPECT_EQ(store().find_document(call_, corpus_, "empty").value()->chunk_count, 0U);
  const IndexChanges changes = store().changes(call_, corpus_, 0, 10).value();
  EXPECT_EQ(changes.to, 1);
  EXPECT_THAT(changes.added, IsEmpty());
}

TEST_P(ChunkStoreContract, PagesOfChangesAddUpToAFullRead) {
  std::mt19937 random(20260301);
  std::vector<std::multiset<std::string>> states(1);
  std::map<std::string, std::vector<std::string>> documents;
  for (int step = 1; step <= 40; ++step) {
    std::vector<DocumentDraft> drafts;
    std::vector<std::string> deleted;
    for (const char* key : {"a", "b", "c", "d"}) {
      if (random() % 3 == 0) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < random() % 4; ++i) texts.push_back(fmt::format("{} {} {}", key, step, i));
        texts.push_back(fmt::format("{} {} end", key, step));
        documents[key] = texts;
        drafts.push_back(draft_of(key, texts));
      } else if (random() % 8 == 0) {
        documents.erase(key);
        deleted.emplace_back(key);
      }
    }
    const CommitReceipt receipt = commit(drafts, deleted);
    std::multiset<std::string> state;
    for (const auto& [key, texts] : documents) {
      for (const std::string& text : texts) state.insert(key + ": " + text);
    }
    states.resize(static_cast<std::size_t>(receipt.generation) + 1);
    states.back() = std::move(state);
  }
  const IndexChanges whole = store().changes(call_, corpus_, 0, 1'000'000).value();
  EXPECT_EQ(whole.to, generation());
  for (const std::size_t rows_max : {0U, 1U, 7U, 30U, 1000U}) {
    ModelIndex index;
    ASSERT_NO_FATAL_FAILURE(follow(index, rows_max));
    EXPECT_EQ(index.generation(), whole.to);
    EXPECT_EQ(index.ids().size(), whole.added.size());
    for (std::size_t g = 0; g < states.size(); ++g) EXPECT_EQ(index.visible(static_cast<Generation>(g)), states[g]) << g;
  }
  const IndexChanges nothing = store().changes(call_, corpus_, whole.to, 10).value();
  EXPECT_EQ(nothing.to, nothing.from);
}

TEST_P(ChunkStoreContract, PurgesWhatDiedBefore) {
  const DocumentId id = commit({draft_of("a", {"a1"}), draft_of("b", {"b1"}), draft_of("c", {"c1"})}).documents[0].id;
  harness_->clock().advance(std::chrono::hours{1});
  commit({draft_of("a", {"a2"})}, {"b"});
  harness_->clock().advance(std::chrono::hours{1});
  const UtcTime before = harness_->clock().now();
  commit({draft_of("c", {"c2"})});

  ModelIndex behind;
  behind.apply(store().changes(call_, corpus_, 0, 0).value());
  ASSERT_EQ(behind.generation(), 1);

  EXPECT_EQ(store().purge(call_, corpus_, before - std::chrono::hours{2}).value(), 0);
  EXPECT_EQ(store().purge(call_, corpus_, before).value(), 2);
  EXPECT_EQ(store().purge(call_, corpus_, before).value(), 0);

  EXPECT_EQ(store().document_text(call_, workspace_, id, 1)->text, "a1") << "the text of an old version is kept, its chunks are not";
  EXPECT_EQ(store().document_text(call_, workspace_, id, 2)->text, "a2");
  EXPECT_THAT(store().chunks(call_, corpus_, behind.ids()).value(), ::testing::SizeIs(1)) << "c1 died later";
  // From generation 0, page by page.
  for (const std::size_t rows_max : {0U, 1U, 100U}) {
    ModelIndex index;
    ASSERT_NO_FATAL_FAILURE(follow(index, rows_max));
    EXPECT_THAT(index.visible(3), ElementsAre("a: a2", "c: c2"));
  }
  // An index that lagged behind gets all changes, or an error that tells it to start over.
  const auto rest = store().changes(call_, corpus_, behind.generation(), 100);
  if (rest) {
    behind.apply(*rest);
    EXPECT_THAT(behind.visible(3), ElementsAre("a: a2", "c: c2"));
  } else {
    EXPECT_EQ(rest.error().code, ErrorCode::kFailedPrecondition);
  }
}

TEST_P(ChunkStoreContract, KeepsTheLastVersionsOfALiveDocument) {
  const auto draft = [](int number) {
    DocumentDraft out = draft_of("a", {"text " + std::to_string(number)});
    out.original = OriginalFile{sha256_hex("file " + std::to_string(number)), "file " + std::to_string(number)};
    return out;
  };
  constexpr int kLast = kVersionsKeptMax + 3;
  DocumentId id;
  for (int number = 1; number <= kLast; ++number) id = commit({draft(number)}).documents[0].id;
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(store().purge(call_, corpus_, harness_->clock().now()).has_value());
  const auto versions = store().versions(call_, workspace_, id).value();
  ASSERT_EQ(versions.size(), static_cast<std::size_t>(kVersionsKeptMax) + 1);
  EXPECT_EQ(versions.front().document.version, kLast);
  EXPECT_FALSE(versions.front().replaced_at.has_value());
  EXPECT_EQ(versions.back().document.version, 3);
  EXPECT_TRUE(versions.back().replaced_at.has_value());
  EXPECT_TRUE(versions.back().has_original);
  EXPECT_EQ(store().document_text(call_, workspace_, id, 2).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().original(call_, workspace_, id, 3)->bytes, "file 3");
  EXPECT_EQ(store().original(call_, workspace_, id, 0)->bytes, "file " + std::to_string(kLast));
  EXPECT_EQ(store().original(call_, workspace_, id, 2).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().counts(call_, corpus_)->chunks, 1);
  const WorkspaceId other = harness_->other_workspace();
  EXPECT_EQ(store().versions(call_, other, id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().original(call_, other, id, 0).error().code, ErrorCode::kNotFound);
  commit({}, {"a"});
  EXPECT_EQ(store().versions(call_, workspace_, id).error().code, ErrorCode::kNotFound);
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(store().purge(call_, corpus_, harness_->clock().now()).has_value());
  commit({draft(99)});
  EXPECT_EQ(store().versions(call_, workspace_, store().documents(call_, corpus_, "", 1)->at(0).id)->size(), 1U) << "deleted is deleted";
}

TEST_P(ChunkStoreContract, VersionsWithEqualBytesShareTheirOriginal) {
  DocumentDraft a = draft_of("a", {"one"});
  DocumentDraft b = draft_of("b", {"two"});
  a.original = b.original = OriginalFile{sha256_hex("same"), "same"};
  const auto documents = commit({a, b, draft_of("c", {"three"})}).documents;
  EXPECT_EQ(store().original(call_, workspace_, documents[2].id, 0).error().code, ErrorCode::kFailedPrecondition) << "not kept";
  commit({}, {"a"});
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(store().purge(call_, corpus_, harness_->clock().now()).has_value());
  EXPECT_EQ(store().original(call_, workspace_, documents[1].id, 0)->bytes, "same");
}

TEST_P(ChunkStoreContract, NeverGivesAChunkIdTwice) {
  commit({draft_of("a", {"1"})});
  ModelIndex index;
  follow(index);
  commit({}, {"a"});
  harness_->clock().advance(std::chrono::hours{1});
  ASSERT_TRUE(store().purge(call_, corpus_, harness_->clock().now()).has_value());
  commit({draft_of("a", {"2"})});
  follow(index);  // rejects a row that it already has
  EXPECT_THAT(index.visible(index.generation()), ElementsAre("a: 2"));
}

TEST_P(ChunkStoreContract, KeepsWorkspacesApart) {
  const DocumentId mine = commit({draft_of("a", {"mine"})}).documents[0].id;
  const WorkspaceId other = harness_->other_workspace();
  const CorpusId theirs = harness_->catalog().ensure_corpus(call_, other, kDefaultCorpus, space_).value().id;
  ASSERT_NE(theirs, corpus_);
  ASSERT_TRUE(store().commit(call_, theirs, std::vector{draft_of("a", {"theirs"})}, {}).has_value());

  EXPECT_EQ(store().document_text(call_, other, mine, 0).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().document_text(call_, other, mine, 1).error().code, ErrorCode::kNotFound);
  ModelIndex index;
  follow(index);
  EXPECT_THAT(index.visible(1), ElementsAre("a: mine"));
  EXPECT_THAT(store().chunks(call_, theirs, index.ids()).value(), IsEmpty());
  const std::vector<std::string> hashes{sha256_hex("mine")};
  EXPECT_THAT(store().embeddings_by_hash(call_, theirs, hashes).value(), IsEmpty());
  EXPECT_EQ(generation(), 1);
}

TEST_P(ChunkStoreContract, AnUnknownCorpusIsNotFound) {
  const CorpusId nowhere{424242};
  EXPECT_EQ(store().documents(call_, nowhere, "", 10).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().counts(call_, nowhere).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().find_document(call_, nowhere, "a").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().chunks(call_, nowhere, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().changes(call_, nowhere, 0, 10).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().embeddings_by_hash(call_, nowhere, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().commit(call_, nowhere, std::vector{draft_of("a", {"x"})}, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store().purge(call_, nowhere, harness_->clock().now()).error().code, ErrorCode::kNotFound);
}

TEST_P(ChunkStoreContract, RefusesVectorsOfAnotherDimensionWhole) {
  DocumentDraft bad = draft_of("b", {"x"});
  bad.chunks[0].vectors = {{1.0F, 0.0F}};
  const auto refused = store().commit(call_, corpus_, std::vector{draft_of("a", {"good"}), bad}, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(visible_now(), IsEmpty());
  EXPECT_EQ(generation(), 0);
}

TEST_P(ChunkStoreContract, FindsVectorsByTheTextsHash) {
  commit({draft_of("a", {"old", "same"})});
  commit({draft_of("a", {"new", "same"})});
  const std::vector<std::string> hashes{sha256_hex("old"), sha256_hex("same"), sha256_hex("unknown"), sha256_hex("same")};
  const auto found = store().embeddings_by_hash(call_, corpus_, hashes).value();
  EXPECT_EQ(found.size(), 2U);
  EXPECT_THAT(found.at(sha256_hex("old")).vectors, ElementsAre(vector_of("old")));
  EXPECT_THAT(found.at(sha256_hex("same")).vectors, ElementsAre(vector_of("same")));
}

TEST_P(ChunkStoreContract, CodesComeBackByChunkAndByTheTextsHash) {
  DocumentDraft coded = draft_of("a", {"first", "second"});
  coded.chunks[1].codes = {
      .form = 77, .dimension = 16, .signs = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}, .windows = {1, 1}};
  commit({coded});
  ModelIndex index;
  follow(index);
  std::vector<ChunkId> ids = index.ids();
  ids.push_back(ChunkId{424242});
  const auto codes = store().passage_codes(call_, corpus_, ids).value();
  EXPECT_THAT(codes, ElementsAre(PassageCodes{}, coded.chunks[1].codes, PassageCodes{})) << "none, its own, and none of what is not there";
  const std::vector<std::string> hashes{sha256_hex("first"), sha256_hex("second")};
  const auto found = store().embeddings_by_hash(call_, corpus_, hashes).value();
  EXPECT_EQ(found.at(hashes[0]).codes, PassageCodes{});
  EXPECT_EQ(found.at(hashes[1]).codes, coded.chunks[1].codes);
  const CorpusId theirs = harness_->catalog().ensure_corpus(call_, harness_->other_workspace(), kDefaultCorpus, space_).value().id;
  EXPECT_THAT(store().passage_codes(call_, theirs, ids).value(), ElementsAre(PassageCodes{}, PassageCodes{}, PassageCodes{}));
}

TEST_P(ChunkStoreContract, NamesTheChunksOfAStretchOfGenerations) {
  commit({draft_of("a", {"one", "two"})});
  commit({draft_of("b", {"three"}), draft_of("a", {"four"})});
  commit({draft_of("c", {"five"})});
  const auto ids = [&](Generation after, Generation until) { return store().chunk_ids(call_, corpus_, after, until).value(); };
  const auto all = ids(0, 3);
  ASSERT_EQ(all.size(), 5U) << "those that died are kept until they are purged";
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_EQ(ids(0, 1), std::vector(all.begin(), all.begin() + 2));
  EXPECT_EQ(ids(1, 2), std::vector(all.begin() + 2, all.begin() + 4));
  EXPECT_EQ(ids(2, 9), std::vector(all.begin() + 4, all.end()));
  EXPECT_TRUE(ids(3, 3).empty());
  const CorpusId theirs = harness_->catalog().ensure_corpus(call_, harness_->other_workspace(), kDefaultCorpus, space_).value().id;
  EXPECT_TRUE(store().chunk_ids(call_, theirs, 0, 3).value().empty());
}

TEST_P(ChunkStoreContract, RefusesCodesThatAreCutShort) {
  DocumentDraft bad = draft_of("a", {"x"});
  bad.chunks[0].codes = {.form = 1, .dimension = 16, .signs = {std::byte{1}}, .windows = {1}};
  EXPECT_EQ(store().commit(call_, corpus_, std::vector{bad}, {}).error().code, ErrorCode::kInvalidArgument);
  bad.chunks[0].codes = {.form = 0, .dimension = 8, .signs = {std::byte{1}}};
  EXPECT_EQ(store().commit(call_, corpus_, std::vector{bad}, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(generation(), 0);
}

TEST_P(ChunkStoreContract, ACallThatIsOverChangesNothing) {
  std::stop_source gone;
  gone.request_stop();
  const std::vector drafts{draft_of("a", {"x"})};
  EXPECT_EQ(store().commit({.stop = gone.get_token()}, corpus_, drafts, {}).error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(store().commit(late, corpus_, drafts, {}).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(generation(), 0);
}

TEST_P(ChunkStoreContract, ReadersBesideAWriterSeeWholeGenerations) {
  constexpr int kRounds = 60;
  constexpr std::size_t kChunks = 5;
  const auto round = [](int number) { return draft_of("a", std::vector<std::string>(kChunks, fmt::format("round {}", number))); };
  commit({round(0)});
  std::atomic<bool> done{false};
  std::atomic<int> reads{0};
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        ModelIndex index;
        follow(index, 20);
        const auto seen = index.visible(index.generation());
        EXPECT_EQ(seen.size(), kChunks);
        EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 1U) << "chunks of two versions at once";
        ++reads;
      }
    });
  }
  for (int i = 1; i <= kRounds || reads < 10; ++i) commit({round(i)});
  done = true;
  readers.clear();
  EXPECT_EQ(visible_now().size(), kChunks);
}

}  // namespace footnote::contract
