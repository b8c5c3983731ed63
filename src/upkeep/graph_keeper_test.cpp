#include "upkeep/graph_keeper.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/log.h"
#include "contracts/chunk_drafts.h"
#include "engine/sql/folder_for_test.h"
#include "providers/local/vector_graphs.h"
#include "providers/sqlite/sqlite_catalog_store.h"

namespace footnote::upkeep {
namespace {

using When = IndexFiles::When;

const EmbeddingSpace kSpace{"a-model", contract::kDimension};
// Just enough that a segment is no longer merged.
constexpr std::size_t kVectors = 10'930;

/// One run of a process: a store at generation 1, and an index of that generation that is larger than the store.
struct Process {
  explicit Process(const std::filesystem::path& data)
      : store(SqliteStore::open(data, {.readers = 2}, clock).value()), files(data, chunks, {&vectors, &graphs}) {
    const WorkspaceId workspace = catalog.find_workspace({}, kDefaultWorkspace).value().id;
    const Corpus made = catalog.ensure_corpus({}, workspace, "memory", kSpace).value();
    if (made.generation == 0) {
      EXPECT_TRUE(chunks.commit({}, made.id, {{contract::draft_of("a", {"text"})}}, {}).has_value());
    }
    corpus = catalog.corpus({}, made.id).value();
    EXPECT_TRUE(vectors.apply({}, corpus.id, rows()).has_value());
  }

  static IndexChanges rows() {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    IndexChanges out{.from = 0, .to = 1, .added = {}, .removed = {}};
    for (std::size_t i = 0; i < kVectors; ++i) {
      IndexRow row;
      row.chunk = {static_cast<std::int64_t>(i + 1)};
      row.document = {1};
      row.born = 1;
      row.vectors.emplace_back(contract::kDimension);
      for (float& value : row.vectors[0]) value = normal(random);
      out.added.push_back(std::move(row));
    }
    return out;
  }
  std::uint64_t nodes() const { return vectors.graph_extent(corpus.id).rows; }
  void keep(std::size_t vectors_min = kVectors, const CallContext& call = {}) {
    keep_graphs(call, {catalog, vectors, files}, corpus, vectors_min);
  }

  SystemClock clock;
  std::unique_ptr<SqliteStore> store;
  SqliteChunkStore chunks{*store};
  SqliteCatalogStore catalog{*store};
  LocalVectorStore vectors;
  VectorGraphs graphs{vectors};
  IndexFiles files;
  Corpus corpus;
};

class GraphKeeperTest : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kOff); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  const sql::FolderForTest folder_;
};

TEST_F(GraphKeeperTest, MakesAGraphFromASizeOnAndTheNextStartReadsItFromItsFile) {
  {
    Process process(folder_.path());
    process.keep(kVectors + 1);
    EXPECT_EQ(process.nodes(), 0U);
    CallContext ended;
    ended.deadline = {};
    process.keep(kVectors, ended);
    EXPECT_EQ(process.nodes(), 0U) << "a build that was told to end leaves nothing";
    process.keep();
    EXPECT_EQ(process.nodes(), kVectors);
    process.files.save({}, process.corpus, When::kEnoughChanged);
    EXPECT_TRUE(std::filesystem::exists(process.files.path_of(process.corpus.id, IndexKind::kGraphs)));
  }
  Process process(folder_.path());
  process.files.load({}, process.corpus);
  EXPECT_EQ(process.nodes(), 0U) << "a start does not wait for it";
  process.files.load_late({}, process.corpus);
  EXPECT_EQ(process.nodes(), kVectors);
  ASSERT_TRUE(process.vectors.drop_graphs(process.corpus.id).has_value());
  EXPECT_EQ(process.nodes(), 0U);
}

TEST_F(GraphKeeperTest, ADamagedFileIsRemovedAndTheGraphMadeAnew) {
  std::filesystem::path path;
  {
    Process process(folder_.path());
    process.keep();
    process.files.save({}, process.corpus, When::kAnythingChanged);
    path = process.files.path_of(process.corpus.id, IndexKind::kGraphs);
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
    file.put(static_cast<char>(byte ^ 1));
  }
  Process process(folder_.path());
  process.files.load_late({}, process.corpus);
  EXPECT_EQ(process.nodes(), 0U);
  EXPECT_FALSE(std::filesystem::exists(path));
  process.keep();
  EXPECT_EQ(process.nodes(), kVectors);
}

TEST_F(GraphKeeperTest, WorksOnAThreadOfItsOwnAndEndsWhenItIsTold) {
  Process process(folder_.path());
  {
    const GraphKeeper keeper({process.catalog, process.vectors, process.files}, kVectors);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes{5};
    while (process.nodes() == 0 && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  EXPECT_EQ(process.nodes(), kVectors);
  std::vector<float> asked(contract::kDimension, 1.0F);
  VectorSearchReport report;
  const auto found =
      process.vectors.search({}, {.corpus = process.corpus.id, .generation = 1, .vector = asked, .limit = 5, .report = &report});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->size(), 5U);
  EXPECT_FALSE(report.plan.empty());
}

}  // namespace
}  // namespace footnote::upkeep
