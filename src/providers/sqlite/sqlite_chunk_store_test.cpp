#include "providers/sqlite/sqlite_chunk_store.h"

#include "contracts/chunk_store_contract.h"
#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace contract {
namespace {

class SqliteHarness final : public ChunkStoreHarness {
 public:
  ChunkStore& chunks() override { return chunks_; }
  CatalogStore& catalog() override { return catalog_; }
  ManualClock& clock() override { return clock_; }
  WorkspaceId other_workspace() override { return catalog_.add_workspace({}, "other").value().id; }

 private:
  const sql::FolderForTest folder_;
  ManualClock clock_{kTestStart};
  std::unique_ptr<SqliteStore> store_ = SqliteStore::open(folder_.path(), {}, clock_).value();
  SqliteChunkStore chunks_{*store_};
  SqliteCatalogStore catalog_{*store_};
};

std::unique_ptr<ChunkStoreHarness> make_sqlite() { return std::make_unique<SqliteHarness>(); }

INSTANTIATE_TEST_SUITE_P(Sqlite, ChunkStoreContract, ::testing::Values(&make_sqlite));

}  // namespace
}  // namespace contract

namespace {

using contract::draft_of;

using SqliteChunkStoreTest = SqliteStoreTest;

TEST_F(SqliteChunkStoreTest, RefusesDraftsThatCantBeRight) {
  const auto code = [&](const std::vector<DocumentDraft>& drafts, const std::vector<std::string>& deleted = {}) {
    const auto refused = commit(drafts, deleted);
    EXPECT_FALSE(refused.has_value());
    return refused ? ErrorCode::kInternal : refused.error().code;
  };
  EXPECT_EQ(code({draft_of("", {"x"})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({draft_of("a", {"x"}), draft_of("a", {"y"})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({draft_of("a", {"x"})}, {"a"}), ErrorCode::kInvalidArgument);
  DocumentDraft bare = draft_of("a", {"x"});
  bare.chunks[0].vectors.clear();
  EXPECT_EQ(code({bare}), ErrorCode::kInvalidArgument);
  DocumentDraft wild = draft_of("a", {"x"});
  wild.chunks[0].vectors[0][2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(code({wild}), ErrorCode::kInvalidArgument);
  DocumentDraft backwards = draft_of("a", {"x"});
  backwards.chunks[0].range = {5, 2};
  EXPECT_EQ(code({backwards}), ErrorCode::kInvalidArgument);

  const WorkspaceId other = catalog().add_workspace(call_, "other").value().id;
  const CorpusId theirs = catalog().ensure_corpus(call_, other, "c", space_).value().id;
  DocumentDraft foreign = draft_of("a", {"x"});
  foreign.source = catalog().ensure_source(call_, theirs, SourceKind::kFolder, "/x").value().id;
  EXPECT_EQ(code({foreign}), ErrorCode::kNotFound);
  EXPECT_EQ(catalog().corpus(call_, corpus_)->generation, 0);
}

TEST_F(SqliteChunkStoreTest, KeepsAttributesThatAreNotUtf8Readable) {
  DocumentDraft draft = draft_of("a", {"x"});
  draft.attributes.title = "caf\xE9";
  ASSERT_TRUE(commit({draft}).has_value());
  EXPECT_EQ(chunks().find_document(call_, corpus_, "a").value()->attributes.title, "caf\xEF\xBF\xBD");
  EXPECT_EQ(commit({draft})->generation, 1) << "the same draft again is no change";
}

TEST_F(SqliteChunkStoreTest, SurvivesBeingClosed) {
  ASSERT_TRUE(commit({draft_of("a", {"one", "two"})}).has_value());
  open();
  EXPECT_EQ(chunks().changes(call_, corpus_, 0, 10)->added.size(), 2U);
  EXPECT_EQ(commit({draft_of("a", {"one", "two"})})->generation, 1);
  EXPECT_EQ(commit({draft_of("a", {"three"})})->generation, 2);
}

TEST_F(SqliteChunkStoreTest, AStoreOfBeforeIsGivenItsDigests) {
  ASSERT_TRUE(commit({draft_of("a.md", {"one", "two"}), draft_of("b.md", {"three"})}).has_value());
  ASSERT_TRUE(commit({draft_of("a.md", {"one", "four"})}, {"b.md"}).has_value());
  const LiveDigest kept = chunks().live_digest(call_, corpus_).value();
  ASSERT_EQ(kept.count, 2);
  execute(kUndoJobs);
  execute(kUndoPoints);
  open();
  EXPECT_EQ(chunks().live_digest(call_, corpus_).value(), kept);
}

TEST_F(SqliteChunkStoreTest, AnIndexAheadOfTheStoreMustStartOver) {
  ASSERT_TRUE(commit({draft_of("a", {"x"})}).has_value());
  EXPECT_EQ(chunks().changes(call_, corpus_, 2, 10).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(chunks().changes(call_, corpus_, -1, 10).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(SqliteChunkStoreTest, TellsAnIndexThatLagsBehindOfPurgedDeaths) {
  ASSERT_TRUE(commit({draft_of("a", {"a1"}), draft_of("b", {"b1"})}).has_value());
  const IndexChanges first = chunks().changes(call_, corpus_, 0, 10).value();
  ASSERT_TRUE(commit({draft_of("a", {"a2"})}).has_value());
  clock_.advance(std::chrono::hours{1});
  ASSERT_EQ(chunks().purge(call_, corpus_, clock_.now()).value(), 2);
  const IndexChanges rest = chunks().changes(call_, corpus_, 1, 10).value();
  ASSERT_EQ(rest.removed.size(), 1U);
  EXPECT_EQ(rest.removed[0].chunk, first.added[0].chunk);
  EXPECT_EQ(rest.removed[0].died, 2);
  EXPECT_TRUE(chunks().changes(call_, corpus_, 0, 10)->removed.empty()) << "useless to a reader that starts from scratch";
}

TEST_F(SqliteChunkStoreTest, ForgetsPurgedDeathsPastTheirBound) {
  open({.purged_kept_max = 2});
  for (int i = 1; i <= 6; ++i) {
    ASSERT_TRUE(commit({draft_of("a", {fmt::format("a{}", i)}), draft_of("b", {fmt::format("b{}", i)})}).has_value());
  }
  clock_.advance(std::chrono::hours{1});
  ASSERT_EQ(chunks().purge(call_, corpus_, clock_.now()).value(), 6);
  // Deaths of generation 6 (two of them) are kept, those up to 5 are not.
  EXPECT_EQ(chunks().changes(call_, corpus_, 4, 10).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(chunks().changes(call_, corpus_, 5, 10)->removed.size(), 2U);
  // A reader that starts from scratch must still reach the end, page by page.
  Generation at = 0;
  for (int pages = 0; pages < 10; ++pages) {
    const auto page = chunks().changes(call_, corpus_, at, 1);
    ASSERT_TRUE(page.has_value()) << page.error().message;
    if (page->to == at) break;
    at = page->to;
  }
  EXPECT_EQ(at, 6);
  EXPECT_TRUE(found().empty());
}

TEST_F(SqliteChunkStoreTest, PurgesInManyTransactions) {
  std::vector<std::string> texts(2500, "text");
  ASSERT_TRUE(commit({draft_of("a", texts)}).has_value());
  ASSERT_TRUE(commit({}, {"a"}).has_value());
  clock_.advance(std::chrono::seconds{1});
  EXPECT_EQ(chunks().purge(call_, corpus_, clock_.now()).value(), 2);
  EXPECT_TRUE(chunks().changes(call_, corpus_, 0, 1'000'000)->added.empty());
  EXPECT_TRUE(found().empty());
  // The identity was deleted with its last version: the next document with that key is new.
  EXPECT_EQ(commit({draft_of("a", {"x"})})->documents[0].version, 1);
}

TEST_F(SqliteChunkStoreTest, ADamagedVectorIsCorruptedNotACrash) {
  ASSERT_TRUE(commit({draft_of("a", {"x"})}).has_value());
  execute("UPDATE chunk_vectors SET vectors = x'0102'");
  EXPECT_EQ(chunks().changes(call_, corpus_, 0, 10).error().code, ErrorCode::kCorrupted);
  execute("UPDATE document_versions SET attributes = '{\"status\":\"unheard of\"}'");
  EXPECT_EQ(chunks().find_document(call_, corpus_, "a").error().code, ErrorCode::kCorrupted);
}

TEST_F(SqliteChunkStoreTest, DocumentsOfChunksAreLookedUpOnce) {
  std::uint64_t statements = 0;
  const sql::StatementObserver count = [&](std::string_view) { ++statements; };
  open({.on_statement = &count});
  ASSERT_TRUE(commit({draft_of("a", {"x"}), draft_of("b", {"y"})}).has_value());
  SqliteChunkStore store(*store_);
  const auto ids = store.chunk_ids(call_, corpus_, 0, 1).value();
  const auto read = [&](std::span<const ChunkId> wanted) {
    const std::uint64_t before = statements;
    auto records = store.chunks(call_, corpus_, wanted).value();
    return std::pair(std::move(records), statements - before);
  };
  const auto [first, first_count] = read(ids);
  const auto [again, again_count] = read(ids);
  EXPECT_EQ(first_count - again_count, 2U) << "one for each document";
  ASSERT_EQ(again.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again[i].chunk.text, first[i].chunk.text);
    EXPECT_EQ(again[i].document_key, first[i].document_key);
    EXPECT_EQ(again[i].document, first[i].document);
  }
  // A new version is another one; the old one keeps its text.
  DocumentDraft renamed = draft_of("a", {"x"});
  renamed.attributes.title = "renamed";
  ASSERT_TRUE(commit({renamed}).has_value());
  const auto newer = read(store.chunk_ids(call_, corpus_, 1, 2).value()).first;
  ASSERT_EQ(newer.size(), 1U);
  EXPECT_EQ(newer[0].document.title, "renamed");
  EXPECT_EQ(read(ids).first[0].document, first[0].document);
}

}  // namespace
}  // namespace footnote
