#include "engine/sql/checked_vfs.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <random>

#include "engine/sql/fault_vfs_for_test.h"
#include "engine/sql/folder_for_test.h"
#include "engine/sql/reader_pool.h"
#include "engine/sql/transaction.h"
#include "engine/sql/writer.h"

namespace footnote::sql {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
void flip(std::string& bytes, std::size_t bit) { bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8))); }

/// Rows with long texts, so that there are overflow pages too.
Result<void> insert(Database& database, int first, int count) {
  FOOTNOTE_TRY(auto transaction, Transaction::begin(database));
  FOOTNOTE_TRY(auto statement, database.prepare("INSERT INTO t VALUES (?, ?)"));
  for (int i = first; i < first + count; ++i) {
    statement.bind(i, std::string(static_cast<std::size_t>(500 + 700 * (i % 40)), static_cast<char>('a' + i % 26)));
    FOOTNOTE_CHECK(statement.run());
  }
  return transaction.commit();
}

/// All contents of the table and its index, or the error of reading them.
Result<std::string> contents(Database& database) {
  std::string out;
  FOOTNOTE_TRY(auto rows, database.prepare("SELECT a, b FROM t ORDER BY a"));
  FOOTNOTE_CHECK(rows.each([&](const Statement& row) -> Result<void> {
    out += fmt::format("{}:{}\n", row.integer(0), row.text(1));
    return {};
  }));
  FOOTNOTE_TRY(auto index, database.prepare("SELECT a FROM t INDEXED BY t_b ORDER BY b"));
  FOOTNOTE_CHECK(index.each([&](const Statement& row) -> Result<void> {
    out += fmt::format("{} ", row.integer(0));
    return {};
  }));
  return out;
}

class CheckedVfsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Database> make() {
    auto database = Database::open(folder_.file(), {.vfs = FaultVfs::kName}).value();
    EXPECT_TRUE(database->execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX t_b ON t (b)").has_value());
    EXPECT_TRUE(insert(*database, 0, 100).has_value());
    return database;
  }
  /// What a new reader of the file sees.
  Result<std::string> read_again() {
    FOOTNOTE_TRY(const auto database, Database::open(folder_.file(), {.vfs = FaultVfs::kName}));
    return contents(*database);
  }
  std::filesystem::path log() const { return folder_.file().string() + "-wal"; }

  const FaultVfs disk_;  // No faults, but fast: it does not sync.
  const FolderForTest folder_{FolderForTest::in_memory()};
};

TEST_F(CheckedVfsTest, ANewFileHasAChecksumOnEveryPage) {
  auto database = make();
  EXPECT_TRUE(database->has_page_sums());
  database.reset();
  EXPECT_EQ(bytes_of(folder_.file())[20], kPageSumBytes);
  EXPECT_TRUE(read_again().has_value());
}

TEST_F(CheckedVfsTest, AFlippedBitAnywhereIsFoundOrChangesNothing) {
  make().reset();
  const std::string sound = read_again().value();
  const std::string bytes = bytes_of(folder_.file());
  std::mt19937 random(5);
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = bytes;
    flip(damaged, random() % (bytes.size() * 8));
    put_bytes(folder_.file(), damaged);
    std::filesystem::remove(log());
    const auto read = read_again();
    if (!read) {
      ++found;
      EXPECT_NE(read.error().message.find("restore"), std::string::npos) << read.error().message;
    } else {
      EXPECT_EQ(*read, sound) << "round " << round;
    }
  }
  EXPECT_GT(found, 350) << "nearly every page is read";
}

TEST_F(CheckedVfsTest, APageInAnotherOnesPlaceIsFound) {
  make().reset();
  std::string bytes = bytes_of(folder_.file());
  constexpr std::size_t kPage = 8192;
  ASSERT_GT(bytes.size(), 8 * kPage);
  bytes.replace(5 * kPage, kPage, bytes, 6 * kPage, kPage);
  put_bytes(folder_.file(), bytes);
  EXPECT_EQ(read_again().error().code, ErrorCode::kCorrupted);
}

TEST_F(CheckedVfsTest, AFileFromBeforeIsReadAndCanBeGivenChecksums) {
  {
    sqlite3* plain = nullptr;
    ASSERT_EQ(sqlite3_open(folder_.file().c_str(), &plain), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(plain,
                           "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);"
                           "CREATE INDEX t_b ON t (b)",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(plain);
  }
  std::string before;
  {
    const auto database = Database::open(folder_.file(), {.vfs = FaultVfs::kName}).value();
    EXPECT_FALSE(database->has_page_sums());
    ASSERT_TRUE(insert(*database, 0, 100).has_value());
    before = contents(*database).value();
    const auto added = database->add_page_sums();
    ASSERT_TRUE(added.has_value()) << added.error().message;
    EXPECT_TRUE(database->has_page_sums());
    EXPECT_EQ(contents(*database), before);
    ASSERT_TRUE(insert(*database, 100, 10).has_value());
  }
  std::string bytes = bytes_of(folder_.file());
  EXPECT_EQ(bytes[20], kPageSumBytes);
  EXPECT_TRUE(read_again().value().starts_with(before.substr(0, 1000)));
  bytes[3 * 8192 + 100] ^= 1;
  put_bytes(folder_.file(), bytes);
  EXPECT_EQ(read_again().error().code, ErrorCode::kCorrupted);
}

TEST_F(CheckedVfsTest, ADamagedPageOfTheLogReachesNeitherReadersNorTheDatabase) {
  make().reset();
  const auto writer = Writer::open(folder_.file(), {.vfs = FaultVfs::kName}, 64 << 20).value();
  {
    // One transaction, so that each frame holds the latest state of its page.
    auto lease = writer->acquire({}).value();
    ASSERT_TRUE(insert(lease.database(), 100, 50).has_value());
  }
  const std::string database = bytes_of(folder_.file());
  const std::string sound = bytes_of(log());
  const auto overwrite_log = [&](const std::string& bytes) {  // In place, because the writer has it open.
    std::fstream(log(), std::ios::binary | std::ios::in | std::ios::out).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  std::mt19937 random(6);
  constexpr std::size_t kFrame = 24 + 8192;
  for (int round = 0; round < 40; ++round) {
    std::string damaged = sound;
    const std::size_t frame = random() % ((sound.size() - 32) / kFrame);
    flip(damaged, (32 + frame * kFrame + 24) * 8 + random() % (8192 * 8));
    overwrite_log(damaged);
    {
      const auto readers = ReaderPool::open(folder_.file(), {.vfs = FaultVfs::kName}, 1);
      auto lease = readers ? (*readers)->acquire({}) : std::unexpected(readers.error());
      const auto read = lease ? contents(lease->database()) : std::unexpected(lease.error());
      ASSERT_FALSE(read.has_value()) << "round " << round;
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupted) << read.error().message;
    }
    auto lease = writer->acquire({}).value();
    const auto moved = lease.database().checkpoint(Database::Checkpoint::kPassive, {});
    ASSERT_FALSE(moved.has_value()) << "round " << round;
    EXPECT_EQ(moved.error().code, ErrorCode::kCorrupted);
    overwrite_log(sound);
  }
  const auto readers = ReaderPool::open(folder_.file(), {.vfs = FaultVfs::kName}, 1).value();
  auto lease = readers->acquire({}).value();
  EXPECT_TRUE(contents(lease.database()).has_value());
}

}  // namespace
}  // namespace footnote::sql
