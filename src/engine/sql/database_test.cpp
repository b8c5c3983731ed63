#include "engine/sql/database.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/sql/error.h"
#include "engine/sql/folder_for_test.h"
#include "engine/sql/transaction.h"

#include <sqlite3.h>

namespace footnote::sql {
namespace {

std::unique_ptr<Database> open_with_table(const FolderForTest& folder) {
  auto database = Database::open(folder.file(), {});
  EXPECT_TRUE(database.has_value()) << database.error().message;
  EXPECT_TRUE((*database)->execute("CREATE TABLE t (a ANY, b ANY, c ANY, d ANY, e ANY) STRICT").has_value());
  return std::move(*database);
}

TEST(SqlStatement, GivesBackWhatWasBound) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  using namespace std::string_literals;
  const std::string text = "nul \0 inside, \xC3\xA4"s;
  const std::byte blob[] = {std::byte{0}, std::byte{255}, std::byte{7}};
  {
    auto insert = database->prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)").value();
    insert.bind(std::int64_t{-5'000'000'000}, 0.1, text, std::span<const std::byte>(blob), std::optional<int>{});
    ASSERT_TRUE(insert.run().has_value());
    insert.bind(1U, 2.5F, std::string_view{}, std::span<const std::byte>{}, nullptr);
    ASSERT_TRUE(insert.run().has_value());
  }
  auto select = database->prepare("SELECT a, b, c, d, e FROM t ORDER BY a").value();
  select.bind();
  ASSERT_TRUE(select.step().value());
  EXPECT_EQ(select.integer(0), -5'000'000'000);
  EXPECT_EQ(select.text(1), "0.1");
  EXPECT_EQ(select.text(2), text);
  EXPECT_TRUE(std::ranges::equal(select.blob(3), blob));
  EXPECT_TRUE(select.is_null(4));
  EXPECT_EQ(select.optional_integer(4), std::nullopt);
  EXPECT_EQ(select.optional_integer(0), -5'000'000'000);
  ASSERT_TRUE(select.step().value());
  EXPECT_FALSE(select.is_null(2)) << "an empty text is not NULL";
  EXPECT_FALSE(select.is_null(3)) << "nor is an empty blob";
  EXPECT_EQ(select.text(2), "");
  EXPECT_FALSE(select.step().value());
}

TEST(SqlStatement, CollectsRowsUntilTheFirstError) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  ASSERT_TRUE(database->execute("INSERT INTO t (a) VALUES (1), (2), (3)").has_value());
  auto select = database->prepare("SELECT a FROM t ORDER BY a").value();
  select.bind();
  EXPECT_EQ(select.collect<std::int64_t>([](const Statement& row) { return row.integer(0); }), (std::vector<std::int64_t>{1, 2, 3}));
  select.bind();
  int seen = 0;
  const auto failed = select.collect<int>([&](const Statement& row) -> Result<int> {
    ++seen;
    if (row.integer(0) == 2) return fail(ErrorCode::kCorrupted, "a damaged row");
    return 7;
  });
  EXPECT_EQ(failed.error().code, ErrorCode::kCorrupted);
  EXPECT_EQ(seen, 2);
}

TEST(SqlStatement, RefusesAWrongNumberOfValues) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  auto insert = database->prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)").value();
  insert.bind(1, 2);
  EXPECT_EQ(insert.run().error().code, ErrorCode::kInternal);
  insert.bind(1, 2, 3, 4, 5);
  EXPECT_TRUE(insert.run().has_value());
}

TEST(SqlStatement, IsKeptForTheNextCallerAndMayBeUsedTwiceAtOnce) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  for (int round = 0; round < 3; ++round) {
    auto outer = database->prepare("SELECT ?").value();
    auto inner = database->prepare("SELECT ?").value();
    outer.bind(1);
    inner.bind(2);
    ASSERT_TRUE(outer.step().value());
    ASSERT_TRUE(inner.step().value());
    EXPECT_EQ(outer.integer(0), 1);
    EXPECT_EQ(inner.integer(0), 2);
  }
  auto fresh = database->prepare("SELECT ?").value();
  fresh.bind(nullptr);
  ASSERT_TRUE(fresh.step().value());
  EXPECT_TRUE(fresh.is_null(0));
}

TEST(SqlDatabase, IsSetUpForDurability) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  const auto number = [&](Statement statement) {
    EXPECT_TRUE(statement.step().value());
    return statement.integer(0);
  };
  EXPECT_EQ(number(database->prepare("PRAGMA synchronous").value()), 2);
  EXPECT_EQ(number(database->prepare("PRAGMA foreign_keys").value()), 1);
  EXPECT_EQ(number(database->prepare("PRAGMA wal_autocheckpoint").value()), 0);
  EXPECT_EQ(number(database->prepare("PRAGMA mmap_size").value()), 0);
  auto mode = database->prepare("PRAGMA journal_mode").value();
  ASSERT_TRUE(mode.step().value());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST(SqlDatabase, AReaderMayNotWrite) {
  const FolderForTest folder;
  const auto writer = open_with_table(folder);
  const auto reader = Database::open(folder.file(), {.access = Access::kReadOnly}).value();
  auto insert = reader->prepare("INSERT INTO t VALUES (1, 2, 3, 4, 5)").value();
  EXPECT_EQ(insert.run().error().code, ErrorCode::kPermissionDenied);
}

TEST(SqlDatabase, KeepsItsNumbers) {
  const FolderForTest folder;
  {
    const auto database = open_with_table(folder);
    ASSERT_TRUE(database->set_application_id(0x11223344).has_value());
    ASSERT_TRUE(database->set_schema_number(7).has_value());
  }
  const auto database = Database::open(folder.file(), {}).value();
  EXPECT_EQ(database->application_id().value(), 0x11223344);
  EXPECT_EQ(database->schema_number().value(), 7);
}

TEST(SqlDatabase, AFileThatIsNoDatabaseIsCorruptedAndNamesTheFix) {
  const FolderForTest folder;
  std::ofstream(folder.file()) << std::string(10'000, 'x');
  const auto opened = Database::open(folder.file(), {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupted);
  EXPECT_NE(opened.error().message.find("restore"), std::string::npos) << opened.error().message;
}

TEST(SqlDatabase, AFolderThatIsNotThereIsUnavailable) {
  const auto opened = Database::open("/nonexistent/folder/x.db", {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
}

TEST(SqlDatabase, StopsAStatementWhenTheCallIsOver) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  // Counts to ten billion, unless it is stopped.
  const auto run_long = [&] {
    auto query = database
                     ->prepare(
                         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) "
                         "SELECT count(*) FROM n")
                     .value();
    return query.run();
  };
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{20});
  database->watch(&late);
  EXPECT_EQ(run_long().error().code, ErrorCode::kDeadlineExceeded);

  std::stop_source gone;
  gone.request_stop();
  const CallContext left{.stop = gone.get_token()};
  database->watch(&left);
  EXPECT_EQ(run_long().error().code, ErrorCode::kCancelled);

  database->watch(nullptr);
  EXPECT_TRUE(database->execute("SELECT 1").has_value());
}

TEST(SqlTransaction, KeepsWhatWasCommittedAndNothingElse) {
  const FolderForTest folder;
  const auto database = open_with_table(folder);
  {
    auto transaction = Transaction::begin(*database).value();
    ASSERT_TRUE(database->execute("INSERT INTO t (a) VALUES ('kept')").has_value());
    ASSERT_TRUE(transaction.commit().has_value());
  }
  {
    auto transaction = Transaction::begin(*database).value();
    ASSERT_TRUE(database->execute("INSERT INTO t (a) VALUES ('dropped')").has_value());
  }
  EXPECT_FALSE(database->in_transaction());
  auto count = database->prepare("SELECT count(*), max(a) FROM t").value();
  ASSERT_TRUE(count.step().value());
  EXPECT_EQ(count.integer(0), 1);
  EXPECT_EQ(count.text(1), "kept");
}

TEST(SqlTransaction, ASecondWriterIsToldToTryAgain) {
  const FolderForTest folder;
  const auto first = open_with_table(folder);
  const auto second = Database::open(folder.file(), {.busy_timeout = std::chrono::milliseconds{10}}).value();
  const auto transaction = Transaction::begin(*first).value();
  EXPECT_EQ(Transaction::begin(*second).error().code, ErrorCode::kUnavailable);
}

TEST(SqlError, MapsCodes) {
  const auto code = [](int sqlite) { return make_error(sqlite, "", "x.db").code; };
  EXPECT_EQ(code(SQLITE_FULL), ErrorCode::kStorageFull);
  EXPECT_EQ(code(SQLITE_IOERR_DATA), ErrorCode::kCorrupted);
  EXPECT_EQ(code(SQLITE_IOERR_NOMEM), ErrorCode::kUnavailable);
  EXPECT_EQ(code(SQLITE_READONLY_DIRECTORY), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code(SQLITE_PERM), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code(SQLITE_CORRUPT_INDEX), ErrorCode::kCorrupted);
  EXPECT_EQ(code(SQLITE_NOTADB), ErrorCode::kCorrupted);
  EXPECT_EQ(code(SQLITE_BUSY_SNAPSHOT), ErrorCode::kUnavailable);
  EXPECT_EQ(code(SQLITE_IOERR_WRITE), ErrorCode::kUnavailable);
  EXPECT_EQ(code(SQLITE_INTERRUPT), ErrorCode::kCancelled);
  EXPECT_EQ(code(SQLITE_TOOBIG), ErrorCode::kTooLarge);
  EXPECT_EQ(code(SQLITE_CONSTRAINT_UNIQUE), ErrorCode::kAlreadyExists);
  EXPECT_EQ(code(SQLITE_CONSTRAINT_FOREIGNKEY), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code(SQLITE_MISUSE), ErrorCode::kInternal);
}

class SqlCopy : public testing::Test {
 protected:
  void fill(int rows) {
    ASSERT_TRUE(database_->execute("BEGIN").has_value());
    auto insert = database_->prepare("INSERT INTO t VALUES (?, ?, NULL, NULL, NULL)").value();
    for (int i = 0; i < rows; ++i) {
      insert.bind(i, std::string(1000, 'x'));
      ASSERT_TRUE(insert.run().has_value());
    }
    ASSERT_TRUE(database_->execute("COMMIT").has_value());
  }
  static std::int64_t rows_of(Database& database) {
    auto count = database.prepare("SELECT count(*) FROM t").value();
    count.bind();
    EXPECT_TRUE(count.step().value());
    return count.integer(0);
  }
  std::filesystem::path target() const { return folder_.path() / "copy.db"; }

  const FolderForTest folder_;
  std::unique_ptr<Database> database_ = open_with_table(folder_);
};

TEST_F(SqlCopy, HoldsTheStateThatTheReaderSees) {
  fill(3'000);  // More pages than one step copies.
  const auto reader = Database::open(folder_.file(), {.access = Access::kReadOnly}).value();
  ASSERT_TRUE(reader->execute("BEGIN").has_value());
  EXPECT_EQ(rows_of(*reader), 3'000);
  fill(500);
  ASSERT_TRUE(reader->copy_to({}, target(), {}).has_value());
  ASSERT_TRUE(reader->execute("COMMIT").has_value());
  const auto copy = Database::open(target(), {.access = Access::kReadOnly}).value();
  EXPECT_EQ(rows_of(*copy), 3'000);
  EXPECT_TRUE(copy->has_page_sums());
  EXPECT_FALSE(std::filesystem::exists(target().string() + "-wal") && std::filesystem::file_size(target().string() + "-wal") > 0);
}

TEST_F(SqlCopy, APageOfItThatIsDamagedIsNotRead) {
  fill(3'000);
  ASSERT_TRUE(database_->copy_to({}, target(), {}).has_value());
  const auto bytes = std::filesystem::file_size(target());
  {
    std::fstream file(target(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(bytes / 2 + 100));
    file.put('?');
  }
  const auto copy = Database::open(target(), {.access = Access::kReadOnly}).value();
  auto all = copy->prepare("SELECT sum(length(b)) FROM t").value();
  all.bind();
  EXPECT_FALSE(all.step().has_value());
}

TEST_F(SqlCopy, EndsWithItsCall) {
  fill(3'000);
  std::stop_source stop;
  stop.request_stop();
  CallContext call;
  call.stop = stop.get_token();
  EXPECT_EQ(database_->copy_to(call, target(), {}).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace footnote::sql
