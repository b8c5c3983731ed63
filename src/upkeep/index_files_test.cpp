#include "upkeep/index_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/log.h"
#include "contracts/chunk_drafts.h"
#include "engine/sql/folder_for_test.h"
#include "ingest/index_sync.h"
#include "providers/local/local_code_index.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/sqlite/sqlite_catalog_store.h"

namespace footnote::upkeep {
namespace {

using contract::draft_of;
using ::testing::HasSubstr;
using When = IndexFiles::When;

const EmbeddingSpace kSpace{"a-model", contract::kDimension};

/// One run of a process on a data folder: store and empty indexes.
struct Process {
  explicit Process(const std::filesystem::path& data)
      : store(SqliteStore::open(data, {.readers = 2}, clock).value()), files(data, chunks, {&vectors, &keywords, &codes}) {
    workspace = catalog.find_workspace({}, kDefaultWorkspace).value().id;
    (void)catalog.ensure_corpus({}, workspace, "memory", kSpace);
  }

  Corpus corpus(std::string_view name = "memory") { return catalog.ensure_corpus({}, workspace, name, kSpace).value(); }
  void commit(const std::vector<DocumentDraft>& drafts, std::string_view name = "memory") {
    ASSERT_TRUE(chunks.commit({}, corpus(name).id, drafts, {}).has_value());
  }
  /// Does what a server does at start.
  void start(std::string_view name = "memory") {
    files.load({}, corpus(name));
    loaded_at = vectors.extent(corpus(name).id).generation;
    ASSERT_TRUE(sync.sync({}, corpus(name).id).has_value());
  }
  std::vector<std::pair<std::int64_t, double>> answers(std::string_view name = "memory") {
    std::vector<std::pair<std::int64_t, double>> out;
    const Corpus asked = corpus(name);
    const auto vector = contract::vector_of("question");
    const auto near = vectors.search({}, {asked.id, asked.generation, vector, 50, nullptr}).value();
    for (const ScoredChunk& hit : near) out.emplace_back(hit.chunk.value, hit.score);
    const auto worded = keywords.search({}, {asked.id, asked.generation, "harbour lantern", 50, nullptr}).value();
    for (const ScoredChunk& hit : worded) out.emplace_back(hit.chunk.value, hit.score);
    return out;
  }

  SystemClock clock;
  std::unique_ptr<SqliteStore> store;
  SqliteChunkStore chunks{*store};
  SqliteCatalogStore catalog{*store};
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  LocalCodeIndex codes{chunks};
  ingest::IndexSync sync{chunks, {&vectors, &keywords}, clock};
  IndexFiles files;
  WorkspaceId workspace;
  Generation loaded_at = 0;
};

class IndexFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kOff); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  /// Creates a folder with three documents at generation 2 and both files.
  void fill(std::string_view name = "memory") {
    Process process(data());
    process.commit({draft_of("a", {"the harbour at night", "a lantern"}), draft_of("b", {"nothing of both"})}, name);
    process.commit({draft_of("c", {"harbour and lantern"}), draft_of("a", {"the harbour by day"})}, name);
    process.start(name);
    process.files.save({}, process.corpus(name), When::kAnythingChanged);
  }
  /// Why a file is not used.
  std::string reason(IndexKind kind = IndexKind::kVectors) {
    Process process(data());
    SavedIndex& index = kind == IndexKind::kVectors    ? static_cast<SavedIndex&>(process.vectors)
                        : kind == IndexKind::kKeywords ? static_cast<SavedIndex&>(process.keywords)
                                                       : process.codes;
    const auto loaded = process.files.load_one({}, process.corpus(), index);
    return loaded ? "none" : loaded.error().message;
  }
  /// Starts, and expects that the files were not used and are removed, and that answers come from indexes rebuilt from the store.
  void expect_rebuilt() {
    Process process(data());
    process.start();
    EXPECT_EQ(process.loaded_at, 0);
    EXPECT_FALSE(std::filesystem::exists(file(IndexKind::kVectors)));
    Process fresh(data());
    ASSERT_TRUE(fresh.sync.sync({}, fresh.corpus().id).has_value());
    EXPECT_EQ(process.answers(), fresh.answers());
  }
  std::filesystem::path data() const { return folder_.path(); }
  std::filesystem::path file(IndexKind kind, std::int64_t corpus = 1) const {
    const std::string_view name = kind == IndexKind::kVectors ? "vectors" : kind == IndexKind::kKeywords ? "keywords" : "codes";
    return data() / kIndexFolder / fmt::format("{}-{}.index", corpus, name);
  }

  const sql::FolderForTest folder_;
};

TEST_F(IndexFilesTest, ASecondStartReadsTheFilesAndOnlyWhatIsNewFromTheStore) {
  fill();
  {
    Process process(data());
    process.start();
    EXPECT_EQ(process.loaded_at, 2);
    EXPECT_EQ(process.vectors.extent({1}).changed_rows, 0U) << "nothing was read from the store";
    process.commit({draft_of("d", {"another lantern"})});
  }
  Process process(data());
  process.start();
  EXPECT_EQ(process.loaded_at, 2);
  EXPECT_EQ(process.vectors.extent({1}).changed_rows, 1U);
  Process fresh(data());
  ASSERT_TRUE(fresh.sync.sync({}, fresh.corpus().id).has_value());
  EXPECT_EQ(process.answers(), fresh.answers());
  EXPECT_FALSE(process.answers().empty());
}

TEST_F(IndexFilesTest, ADamagedFileIsFoundRemovedAndMadeAnew) {
  for (const IndexKind kind : {IndexKind::kVectors, IndexKind::kKeywords}) {
    fill();
    std::fstream bytes(file(kind), std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(100);  // in the first section
    bytes.put('\x7F');
    bytes.close();
    EXPECT_THAT(reason(kind), HasSubstr("damaged"));
    Process process(data());
    process.start();
    EXPECT_FALSE(std::filesystem::exists(file(kind)));
    Process fresh(data());
    ASSERT_TRUE(fresh.sync.sync({}, fresh.corpus().id).has_value());
    EXPECT_EQ(process.answers(), fresh.answers());
  }
}

TEST_F(IndexFilesTest, AFullVectorDamagedInItsFileIsNoticedAndTheIndexMadeAnew) {
  fill();
  Process fresh(data());
  ASSERT_TRUE(fresh.sync.sync({}, fresh.corpus().id).has_value());
  // The last vector of the file: its row is live. After the full vectors of all five rows come their codes, 64 bytes each.
  std::fstream bytes(file(IndexKind::kVectors), std::ios::binary | std::ios::in | std::ios::out);
  bytes.seekp(-5 * 64 - 64, std::ios::end);
  bytes.put('\x7F');
  bytes.close();
  Process process(data());
  process.start();
  EXPECT_EQ(process.loaded_at, 2) << "full vectors are not read at the start";
  process.files.drop_damaged({}, process.corpus());
  EXPECT_EQ(process.vectors.extent({1}).generation, 2) << "nothing was noticed yet";
  EXPECT_EQ(process.answers().size(), fresh.answers().size());
  EXPECT_TRUE(process.vectors.is_damaged({1}));
  process.files.drop_damaged({}, process.corpus());
  EXPECT_FALSE(std::filesystem::exists(file(IndexKind::kVectors)));
  EXPECT_TRUE(std::filesystem::exists(file(IndexKind::kKeywords)));
  ASSERT_TRUE(process.sync.sync({}, process.corpus().id).has_value());
  EXPECT_EQ(process.answers(), fresh.answers());
  process.files.save({}, process.corpus(), When::kAnythingChanged);
  EXPECT_EQ(reason(), "none") << "a sound file again";
}

TEST_F(IndexFilesTest, AStoreMadeAnewDoesNotTakeTheOldOnesFiles) {
  fill();
  std::filesystem::remove(data() / kStoreFile);
  {
    Process process(data());  // as many generations, but other documents
    process.commit({draft_of("x", {"lantern"}), draft_of("y", {"harbour"})});
    process.commit({draft_of("z", {"harbour lantern"})});
  }
  EXPECT_THAT(reason(), HasSubstr("another store"));
  expect_rebuilt();
}

TEST_F(IndexFilesTest, AStoreTakenBackToAnOlderStateDoesNotTakeTheNewerOnesFiles) {
  {
    Process process(data());
    process.commit({draft_of("a", {"the harbour at night"})});
  }
  const std::filesystem::path copy = data() / "copy.db";
  std::filesystem::copy_file(data() / kStoreFile, copy);
  {
    Process process(data());
    process.commit({draft_of("b", {"a lantern"})});
    process.start();
    process.files.save({}, process.corpus(), When::kAnythingChanged);
  }
  std::filesystem::copy_file(copy, data() / kStoreFile, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(reason(), HasSubstr("ahead of the store's 1"));
  {
    Process process(data());  // continues from there with other changes
    process.commit({draft_of("c", {"harbour"})});
    process.commit({draft_of("d", {"harbour again"})});
  }
  EXPECT_THAT(reason(), HasSubstr("rolled back"));
  expect_rebuilt();
}

TEST_F(IndexFilesTest, FilesOfAnotherCorpusOrKindAreNotUsed) {
  fill();
  fill("other");
  std::filesystem::copy_file(file(IndexKind::kVectors, 2), file(IndexKind::kVectors), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(reason(), HasSubstr("of corpus 2"));
  std::filesystem::copy_file(file(IndexKind::kKeywords), file(IndexKind::kVectors), std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(reason(), HasSubstr("another kind"));
  expect_rebuilt();
}

TEST_F(IndexFilesTest, FilesOfAnotherModelOrOtherRulesAreNotUsed) {
  Process process(data());
  process.commit({draft_of("a", {"the harbour at night"})});
  process.start();
  Corpus other = process.corpus();
  other.space.model_id = "another-model";
  process.files.save({}, other, When::kAnythingChanged);
  EXPECT_THAT(process.files.load_one({}, process.corpus(), process.vectors).error().message, HasSubstr("another-model"));
  const IndexHead head{.kind = IndexKind::kVectors, .rules = 99, .corpus = {1}, .space = kSpace, .generation = 1};
  ASSERT_TRUE(process.vectors.save({}, file(IndexKind::kVectors), head).has_value());
  EXPECT_THAT(process.files.load_one({}, process.corpus(), process.vectors).error().message, HasSubstr("rules 99"));
}

TEST_F(IndexFilesTest, SavesWhenEnoughChangedOrWhenAsked) {
  Process process(data());
  const auto rows = [](std::size_t count) { return std::vector<std::string>(count, "harbour"); };
  process.commit({draft_of("a", rows(kSaveRowsMin - 1))});
  process.start();
  const Corpus corpus = process.corpus();
  process.files.save({}, corpus, When::kEnoughChanged);
  EXPECT_FALSE(std::filesystem::exists(file(IndexKind::kVectors)));
  process.commit({draft_of("b", rows(1))});
  ASSERT_TRUE(process.sync.sync({}, corpus.id).has_value());
  process.files.save({}, corpus, When::kEnoughChanged);
  EXPECT_TRUE(std::filesystem::exists(file(IndexKind::kVectors)));
  EXPECT_TRUE(std::filesystem::exists(file(IndexKind::kKeywords)));
  std::filesystem::remove(file(IndexKind::kVectors));
  process.files.save({}, corpus, When::kAnythingChanged);
  EXPECT_FALSE(std::filesystem::exists(file(IndexKind::kVectors))) << "nothing changed";
}

TEST_F(IndexFilesTest, CodesAreSavedInTheBackgroundAndMayLagBehind) {
  const auto rows = [](std::string_view text, std::size_t count) { return std::vector<std::string>(count, std::string(text)); };
  {
    Process process(data());
    process.commit({draft_of("a", {"harbour"})});
    process.start();
    process.files.save({}, process.corpus(), When::kAnythingChanged);
    EXPECT_FALSE(std::filesystem::exists(file(IndexKind::kCodes))) << "nobody waits for them";
    process.files.save({}, process.corpus(), When::kInBackground);
    EXPECT_EQ(process.codes.extent({1}).generation, 1);
  }
  Process process(data());
  process.start();
  EXPECT_EQ(process.codes.extent({1}).generation, 1) << "read from the file";
  process.commit({draft_of("b", rows("lantern", kSaveRowsMin - 1))});
  process.files.save({}, process.corpus(), When::kInBackground);
  EXPECT_EQ(process.codes.extent({1}).generation, 1) << "too little changed";
  process.commit({draft_of("c", {"another"})});
  process.files.save({}, process.corpus(), When::kInBackground);
  EXPECT_EQ(process.codes.extent({1}).generation, 3);
  EXPECT_EQ(process.codes.extent({1}).rows, kSaveRowsMin + 1);
  EXPECT_EQ(reason(IndexKind::kCodes), "none");
}

TEST_F(IndexFilesTest, AFolderThatCantBeMadeIsNoHarm) {
  std::ofstream(data() / kIndexFolder) << "in the way";
  Process process(data());
  process.commit({draft_of("a", {"the harbour at night"})});
  process.start();
  process.files.save({}, process.corpus(), When::kAnythingChanged);
  EXPECT_FALSE(process.answers().empty());
}

TEST_F(IndexFilesTest, TidiesWhatNobodyWillRead) {
  fill();
  std::ofstream(file(IndexKind::kVectors, 9)) << "of a corpus that is gone";
  std::ofstream(data() / kIndexFolder / "1-vectors.index.AbCdEfGh.tmp") << "of a process that was killed";
  std::ofstream(data() / kIndexFolder / "notes.txt") << "somebody's";
  Process process(data());
  process.files.tidy(process.catalog.corpora({}, process.workspace).value());
  EXPECT_TRUE(std::filesystem::exists(file(IndexKind::kVectors)));
  EXPECT_TRUE(std::filesystem::exists(file(IndexKind::kKeywords)));
  EXPECT_TRUE(std::filesystem::exists(data() / kIndexFolder / "notes.txt"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(data() / kIndexFolder), {}), 3);
}

}  // namespace
}  // namespace footnote::upkeep
