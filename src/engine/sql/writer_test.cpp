#include "engine/sql/writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "engine/sql/fault_vfs_for_test.h"
#include "engine/sql/folder_for_test.h"
#include "engine/sql/reader_pool.h"
#include "engine/sql/transaction.h"

namespace footnote::sql {
namespace {

constexpr std::uint64_t kWalBytesMax = 1 << 20;

/// A file with a writer and two readers.
class SqlWriter : public ::testing::Test {
 protected:
  void open(const char* vfs = nullptr) {
    OpenOptions options{.vfs = vfs};
    writer_ = Writer::open(folder_.file(), options, kWalBytesMax).value();
    {
      auto lease = writer_->acquire(call_).value();
      ASSERT_TRUE(lease.database().execute("CREATE TABLE IF NOT EXISTS t (a INTEGER, b BLOB)").has_value());
    }
    readers_ = ReaderPool::open(folder_.file(), options, 2).value();
  }
  void close() {
    readers_.reset();
    writer_.reset();
  }

  Result<void> insert(int bytes = 100) {
    FOOTNOTE_TRY(auto lease, writer_->acquire(call_));
    FOOTNOTE_TRY(auto transaction, Transaction::begin(lease.database()));
    FOOTNOTE_TRY(auto statement, lease.database().prepare("INSERT INTO t VALUES (1, zeroblob(?))"));
    statement.bind(bytes);
    FOOTNOTE_CHECK(statement.run());
    return transaction.commit();
  }
  static std::int64_t count(ReadLease& lease) {
    auto statement = lease.database().prepare("SELECT count(*) FROM t").value();
    EXPECT_TRUE(statement.step().value());
    return statement.integer(0);
  }
  std::int64_t count() {
    auto lease = readers_->acquire(call_).value();
    return count(lease);
  }
  std::uint64_t log_bytes() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(folder_.file().string() + "-wal", none);
    return none ? 0 : size;
  }

  const CallContext call_;
  const FolderForTest folder_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<ReaderPool> readers_;
};

TEST_F(SqlWriter, ALeaseReadsOneState) {
  open();
  ASSERT_TRUE(insert().has_value());
  auto lease = readers_->acquire(call_).value();
  EXPECT_EQ(count(lease), 1);
  ASSERT_TRUE(insert().has_value());
  EXPECT_EQ(count(lease), 1);
  EXPECT_EQ(count(), 2);
}

TEST_F(SqlWriter, WaitsForAReaderNoLongerThanTheCallLasts) {
  open();
  const auto first = readers_->acquire(call_).value();
  auto second = std::make_unique<ReadLease>(readers_->acquire(call_).value());
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{20});
  EXPECT_EQ(readers_->acquire(late).error().code, ErrorCode::kDeadlineExceeded);

  std::stop_source gone;
  std::jthread leaver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    gone.request_stop();
  });
  EXPECT_EQ(readers_->acquire({.stop = gone.get_token()}).error().code, ErrorCode::kCancelled);

  std::jthread giver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    second.reset();
  });
  EXPECT_TRUE(readers_->acquire(call_).has_value());
}

TEST_F(SqlWriter, WritersTakeTurns) {
  open();
  {
    const auto lease = writer_->acquire(call_).value();
    EXPECT_EQ(writer_->acquire(CallContext::with_timeout(std::chrono::milliseconds{20})).error().code, ErrorCode::kDeadlineExceeded);
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 25; ++n) EXPECT_TRUE(insert().has_value());
    });
  }
  threads.clear();
  EXPECT_EQ(count(), 100);
}

TEST_F(SqlWriter, HoldsTheLogToItsBound) {
  open();
  std::uint64_t largest = 0;
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(insert(50'000).has_value());
    if (i % 10 == 0) {
      EXPECT_EQ(count(), i + 1);
    }
    largest = std::max(largest, log_bytes());
  }
  EXPECT_GT(largest, kWalBytesMax / 2);
  EXPECT_LE(largest, kWalBytesMax + (128 << 10)) << "one commit past the bound";
}

TEST_F(SqlWriter, HoldsTheLogUnderReadersThatOverlap) {
  open();
  std::atomic<bool> done{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    // Each pins a state nearly all the time, so that the WAL can't restart by itself.
    threads.emplace_back([&, i] {
      std::this_thread::sleep_for(std::chrono::milliseconds{5 * i});
      while (!done) {
        auto lease = readers_->acquire(call_).value();
        (void)count(lease);
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
    });
  }
  std::uint64_t largest = 0;
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(insert(50'000).has_value());
    largest = std::max(largest, log_bytes());
  }
  done = true;
  threads.clear();
  // On a busy machine an attempt or two may fail; without any, the WAL would reach 30 MB.
  EXPECT_LE(largest, (Writer::kWalPatienceFactor + 2) * kWalBytesMax);
}

TEST_F(SqlWriter, ClosesWithAnEmptyLog) {
  open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(insert(50'000).has_value());
  EXPECT_GT(log_bytes(), 0U);
  close();
  EXPECT_EQ(log_bytes(), 0U);
  open();
  EXPECT_EQ(count(), 10);
}

TEST_F(SqlWriter, AFullDiskKeepsWhatWasThereAndHeals) {
  FaultVfs faults;
  open(FaultVfs::kName);
  ASSERT_TRUE(insert().has_value());
  for (int nth = 1; nth <= 20; ++nth) {
    faults.fail_writes(nth, SQLITE_FULL);
    const auto refused = insert(200'000);
    ASSERT_FALSE(refused.has_value()) << nth;
    EXPECT_EQ(refused.error().code, ErrorCode::kStorageFull);
    EXPECT_EQ(count(), nth);
    faults.fail_writes(0, 0);
    ASSERT_TRUE(insert().has_value()) << "writes go on once there is room";
  }
  EXPECT_TRUE(writer_->healthy());
  close();
}

TEST_F(SqlWriter, AnIoErrorAcknowledgesNothing) {
  FaultVfs faults;
  open(FaultVfs::kName);
  ASSERT_TRUE(insert().has_value());
  for (int nth = 1; nth <= 20; ++nth) {
    faults.fail_writes(nth, SQLITE_IOERR_WRITE);
    EXPECT_EQ(insert(200'000).error().code, ErrorCode::kUnavailable) << nth;
    faults.fail_writes(0, 0);
    EXPECT_EQ(count(), 1);
  }
  close();
  open(FaultVfs::kName);
  EXPECT_EQ(count(), 1);
  close();
}

TEST_F(SqlWriter, AFailedSyncIsNeverTriedAgain) {
  FaultVfs faults;
  open(FaultVfs::kName);
  ASSERT_TRUE(insert().has_value());
  faults.fail_syncs(true);
  EXPECT_EQ(insert().error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(writer_->healthy());
  faults.fail_syncs(false);
  const auto refused = insert();
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("start again"), std::string::npos);
  EXPECT_EQ(count(), 1);
  close();
  open(FaultVfs::kName);
  // Commits that were not acknowledged may be there or not, but only whole.
  const std::int64_t kept = count();
  EXPECT_TRUE(kept == 1 || kept == 2) << kept;
  EXPECT_TRUE(insert().has_value());
  EXPECT_EQ(count(), kept + 1);
  close();
}

TEST_F(SqlWriter, AfterAFailedSyncTheLogIsLeftAsItIs) {
  FaultVfs faults;
  open(FaultVfs::kName);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(insert(50'000).has_value());
  faults.fail_syncs(true);
  EXPECT_EQ(insert().error().code, ErrorCode::kUnavailable);
  faults.fail_syncs(false);
  const std::uint64_t before = log_bytes();
  close();
  EXPECT_EQ(log_bytes(), before) << "no checkpoint: what it would write could be lost without a word";
}

TEST_F(SqlWriter, ReadsGoOnWhileNothingCanBeWritten) {
  FaultVfs faults;
  open(FaultVfs::kName);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(insert(50'000).has_value());
  for (const int code : {SQLITE_FULL, SQLITE_IOERR_WRITE}) {
    faults.fail_writes(1, code);
    faults.fail_opens(true);  // No descriptors left either.
    EXPECT_FALSE(insert().has_value());
    EXPECT_EQ(count(), 5);
    faults.fail_opens(false);
    faults.fail_writes(0, 0);
  }
  faults.fail_reads(true);
  EXPECT_FALSE(insert().has_value());
  faults.fail_reads(false);
  EXPECT_TRUE(insert().has_value());
  EXPECT_EQ(count(), 6);
  close();
}

TEST_F(SqlWriter, WithoutDescriptorsItDoesNotOpenAndSaysWhy) {
  FaultVfs faults;
  faults.fail_opens(true);
  const auto refused = Writer::open(folder_.file(), {.vfs = FaultVfs::kName}, kWalBytesMax);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("limit of open files"), std::string::npos) << refused.error().message;
}

TEST_F(SqlWriter, AFileThatMayNotGrowIsAFullDisk) {
  open();
  ASSERT_TRUE(insert().has_value());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{log_bytes() + 4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto refused = insert(100'000);
  EXPECT_EQ(count(), 1);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kStorageFull) << refused.error().message;
  EXPECT_TRUE(writer_->healthy());
  EXPECT_TRUE(insert(100'000).has_value()) << "with room again";
}

TEST_F(SqlWriter, ABoundedDatabaseGetsFull) {
  writer_ = Writer::open(folder_.file(), {.bytes_max = 1 << 20}, kWalBytesMax).value();
  {
    auto lease = writer_->acquire(call_).value();
    ASSERT_TRUE(lease.database().execute("CREATE TABLE t (a INTEGER, b BLOB)").has_value());
  }
  readers_ = ReaderPool::open(folder_.file(), {}, 1).value();
  int kept = 0;
  Result<void> outcome;
  while ((outcome = insert(50'000)) && kept < 1000) ++kept;
  EXPECT_EQ(outcome.error().code, ErrorCode::kStorageFull);
  EXPECT_GT(kept, 10);
  EXPECT_EQ(count(), kept);
}

}  // namespace
}  // namespace footnote::sql
