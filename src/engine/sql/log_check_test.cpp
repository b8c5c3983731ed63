#include "engine/sql/log_check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "engine/sql/fault_vfs_for_test.h"
#include "engine/sql/folder_for_test.h"
#include "engine/sql/transaction.h"
#include "engine/sql/writer.h"

namespace footnote::sql {
namespace {

constexpr std::size_t kHeader = 32;
constexpr std::size_t kFrame = 24 + 8192;
constexpr int kCommits = 12;

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// The files of a database whose process was killed: kCommits commits of several frames each, all in the WAL.
class LogCheckTest : public ::testing::Test {
 protected:
  LogCheckTest() {
    const FolderForTest made{FolderForTest::in_memory()};
    const auto writer = Writer::open(made.file(), {.vfs = FaultVfs::kName}, 64 << 20).value();
    auto lease = writer->acquire({}).value();
    Database& database = lease.database();
    EXPECT_TRUE(database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)").has_value());
    EXPECT_TRUE(database.checkpoint(Database::Checkpoint::kTruncate, {}).has_value());
    for (int i = 0; i < kCommits; ++i) {
      last_commit_ = bytes_of(made.file().string() + "-wal").size();
      EXPECT_TRUE(database.execute("INSERT INTO t (b) VALUES (randomblob(30000))").has_value());
    }
    database_ = bytes_of(made.file());
    log_ = bytes_of(made.file().string() + "-wal");
  }

  void put(const std::string& log) {
    put_bytes(folder_.file(), database_);
    put_bytes(log_file(), log);
  }
  /// The number of commits after opening; nullopt when it is refused.
  std::optional<std::int64_t> commits_after_start(const std::string& log) {
    put(log);
    const auto writer = Writer::open(folder_.file(), {.vfs = FaultVfs::kName}, 64 << 20);
    if (!writer) {
      EXPECT_EQ(writer.error().code, ErrorCode::kCorrupted) << writer.error().message;
      EXPECT_EQ(bytes_of(log_file()), log) << "a damaged log is left alone";
      return std::nullopt;
    }
    auto lease = (*writer)->acquire({}).value();
    auto count = lease.database().prepare("SELECT count(*) FROM t").value();
    EXPECT_TRUE(count.step().value());
    return count.integer(0);
  }
  std::filesystem::path log_file() const { return folder_.file().string() + "-wal"; }

  const FaultVfs disk_;  // No faults, but fast: it does not sync.
  const FolderForTest folder_{FolderForTest::in_memory()};
  std::string database_;
  std::string log_;
  std::size_t last_commit_ = 0;  // Offset of the last commit in the log.
};

TEST_F(LogCheckTest, ASoundLogAndNoLogAreWell) {
  EXPECT_EQ(commits_after_start(log_), kCommits);
  EXPECT_TRUE(check_log(folder_.path() / "none").has_value());
  EXPECT_EQ(commits_after_start(""), 0);
  EXPECT_EQ(commits_after_start(log_.substr(0, kHeader)), 0);
}

TEST_F(LogCheckTest, AFlippedBitNeverTakesACommitAwayUnnoticedButTheLast) {
  std::mt19937 random(9);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = log_;
    const std::size_t bit = random() % (log_.size() * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto commits = commits_after_start(damaged);
    refused += commits ? 0 : 1;
    // Damage to the last commit looks like a torn commit: exactly that commit is gone.
    EXPECT_EQ(commits.value_or(kCommits), !commits || bit / 8 < last_commit_ ? kCommits : kCommits - 1) << "round " << round;
  }
  EXPECT_GT(refused, 200);
}

TEST_F(LogCheckTest, EveryPartOfAFrameCounts) {
  // The frame that ends the last but one commit: page, commit mark, salt, sum, data.
  const std::size_t frame = last_commit_ - kFrame;
  for (const std::size_t at : {0U, 3U, 7U, 8U, 15U, 16U, 23U, 24U, 8000U}) {
    std::string damaged = log_;
    damaged[frame + at] = static_cast<char>(damaged[frame + at] ^ 2);
    EXPECT_EQ(commits_after_start(damaged), std::nullopt) << "byte " << at;
  }
  for (std::size_t at = 0; at < kHeader; ++at) {
    std::string damaged = log_;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_EQ(commits_after_start(damaged), std::nullopt) << "byte " << at << " of the head";
  }
}

TEST_F(LogCheckTest, ATornLastCommitIsNoDamage) {
  std::mt19937 random(10);
  for (int round = 0; round < 100; ++round) {
    std::string torn = log_;
    // Any of its sectors may be missing: old contents, or noise.
    for (std::size_t at = last_commit_; at < torn.size(); at += 512) {
      if (random() % 2 == 0) continue;
      const char filler = random() % 2 == 0 ? '\0' : static_cast<char>(random());
      std::fill(torn.begin() + static_cast<std::ptrdiff_t>(at), torn.begin() + static_cast<std::ptrdiff_t>(std::min(at + 512, torn.size())),
                filler);
    }
    if (random() % 4 == 0) torn.resize(last_commit_ + random() % (torn.size() - last_commit_));
    if (torn == log_) continue;
    EXPECT_EQ(commits_after_start(torn), kCommits - 1) << "round " << round;
  }
}

TEST_F(LogCheckTest, WhatIsLeftFromBeforeTheLogStartedOverIsNoDamage) {
  // The log restarts: new frames at its head, and the old ones after them still match each other.
  put(log_);
  std::string over;
  {
    const auto writer = Writer::open(folder_.file(), {.vfs = FaultVfs::kName}, 64 << 20).value();
    auto lease = writer->acquire({}).value();
    ASSERT_TRUE(lease.database().checkpoint(Database::Checkpoint::kPassive, {}).value());
    ASSERT_TRUE(lease.database().execute("INSERT INTO t (b) VALUES (randomblob(30000))").has_value());
    over = bytes_of(log_file());
    database_ = bytes_of(folder_.file());
  }
  ASSERT_EQ(over.size(), log_.size()) << "the old frames are there";
  EXPECT_EQ(commits_after_start(over), kCommits + 1);
}

}  // namespace
}  // namespace footnote::sql
