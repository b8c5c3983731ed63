#include "upkeep/reconcile.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "contracts/chunk_drafts.h"
#include "engine/sql/folder_for_test.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/sqlite/sqlite_catalog_store.h"

namespace footnote::upkeep {
namespace {

using contract::draft_of;

const EmbeddingSpace kSpace{"a-model", contract::kDimension};

/// One run of a process on a data folder.
struct Process {
  explicit Process(const std::filesystem::path& data)
      : store(SqliteStore::open(data, {.readers = 2}, clock).value()), files(data, chunks, {&vectors, &keywords}) {
    const WorkspaceId workspace = catalog.find_workspace({}, kDefaultWorkspace).value().id;
    id = catalog.ensure_corpus({}, workspace, "memory", kSpace).value().id;
  }

  Corpus corpus() { return catalog.corpus({}, id).value(); }
  void start() {
    files.load({}, corpus());
    ASSERT_TRUE(sync.sync({}, id).has_value());
    ASSERT_TRUE(reconciler.reconcile({}, corpus()).has_value());
  }
  std::uint64_t mended(std::string_view difference) {
    return metrics.counter("footnote_index_mended_rows_total", "", {{"difference", std::string(difference)}}).value();
  }
  std::size_t differences(const SavedIndex& index) { return compare_with_store({}, chunks, index, id).value().total(); }

  SystemClock clock;
  std::unique_ptr<SqliteStore> store;
  SqliteChunkStore chunks{*store};
  SqliteCatalogStore catalog{*store};
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  ingest::IndexSync sync{chunks, {&vectors, &keywords}, clock};
  IndexFiles files;
  Metrics metrics;
  Reconciler reconciler{chunks, {&vectors, &keywords}, sync, files, metrics};
  CorpusId id;
};

class ReconcileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_log_level(LogLevel::kOff);
    Process process(folder_.path());
    ASSERT_TRUE(process.chunks.commit({}, process.id, {{draft_of("a", {"one", "two"}), draft_of("b", {"three"})}}, {}).has_value());
    ASSERT_TRUE(process.chunks.commit({}, process.id, {{draft_of("a", {"four"}), draft_of("c", {"five", "six"})}}, {}).has_value());
  }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  /// Saves indexes whose rows differ from the store's, as if they belonged to it.
  template <class Change>
  void plant(const Change& change) {
    Process process(folder_.path());
    IndexChanges changes = process.chunks.changes({}, process.id, 0, 1000).value();
    change(changes);
    ASSERT_TRUE(process.vectors.apply({}, process.id, changes).has_value());
    ASSERT_TRUE(process.keywords.apply({}, process.id, changes).has_value());
    process.files.save({}, process.corpus(), IndexFiles::When::kAnythingChanged);
  }
  /// Expects the next start to find this many differences in both indexes together, and to repair them.
  void expect_mended(std::string_view difference, std::uint64_t rows) {
    Process process(folder_.path());
    process.start();
    for (const std::string_view each : {"missing", "extra", "stale"})
      EXPECT_EQ(process.mended(each), each == difference ? rows : 0U) << each;
    EXPECT_EQ(process.differences(process.vectors), 0U);
    EXPECT_EQ(process.differences(process.keywords), 0U);
    EXPECT_EQ(process.vectors.live_rows(process.id), process.chunks.live_rows({}, process.id).value());
    EXPECT_EQ(process.keywords.live_rows(process.id), process.chunks.live_rows({}, process.id).value());
    EXPECT_EQ(std::filesystem::exists(process.files.path_of(process.id, IndexKind::kVectors)), rows == 0);
  }

  const sql::FolderForTest folder_;
};

TEST_F(ReconcileTest, IndexesLikeTheStoreAreLeftAlone) {
  plant([](IndexChanges&) {});
  expect_mended("none", 0);
}

TEST_F(ReconcileTest, AMissingRowIsFound) {
  plant([](IndexChanges& changes) { changes.added.pop_back(); });
  expect_mended("missing", 2);
}

TEST_F(ReconcileTest, ARowThatTheStoreDoesNotHaveIsFound) {
  plant([](IndexChanges& changes) {
    changes.added.push_back(changes.added.back());
    changes.added.back().chunk = {999};
  });
  expect_mended("extra", 2);
}

TEST_F(ReconcileTest, ADeathThatTheIndexDidNotLearnOfIsFound) {
  plant([](IndexChanges& changes) { changes.removed.pop_back(); });
  expect_mended("extra", 2);
}

TEST_F(ReconcileTest, ARowOfAnotherGenerationIsFound) {
  plant([](IndexChanges& changes) { changes.added.back().born = 1; });
  expect_mended("stale", 2);
}

TEST_F(ReconcileTest, ARowWithoutAVectorIsNotMissing) {
  plant([](IndexChanges& changes) { changes.added.back().vectors.clear(); });
  expect_mended("none", 0);
}

TEST_F(ReconcileTest, TheStoreKeepsTheDigestOfItsLiveChunks) {
  Process process(folder_.path());
  const auto expect_kept = [&] {
    LiveDigest counted{.generation = process.corpus().generation};
    const std::vector<LiveRow> rows = process.chunks.live_rows({}, process.id).value();
    for (const LiveRow& row : rows) counted.add(row);
    EXPECT_EQ(process.chunks.live_digest({}, process.id).value(), counted);
  };
  expect_kept();
  EXPECT_EQ(process.chunks.live_digest({}, process.id)->count, 4);
  ASSERT_TRUE(process.chunks.commit({}, process.id, {}, {{"c"}}).has_value());
  expect_kept();
  ASSERT_TRUE(process.chunks.purge({}, process.id, UtcTime::max()).has_value());
  expect_kept();
  EXPECT_EQ(process.chunks.live_digest({}, process.id)->count, 2);
  EXPECT_EQ(process.chunks.live_digest({}, CorpusId{77}).error().code, ErrorCode::kNotFound);
}

TEST(CompareRows, CountsEachKind) {
  const std::vector<LiveRow> store{{{1}, 1}, {{2}, 1}, {{4}, 2}};
  const std::vector<LiveRow> index{{{0}, 1}, {{2}, 2}, {{4}, 2}, {{5}, 1}};
  const RowDifferences found = compare_rows(store, index);
  EXPECT_EQ(found.missing, 1U);
  EXPECT_EQ(found.extra, 2U);
  EXPECT_EQ(found.stale, 1U);
  EXPECT_EQ(describe(found), "1 missing, 2 extra, 1 stale");
}

}  // namespace
}  // namespace footnote::upkeep
