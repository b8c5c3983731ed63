#include "providers/sqlite/sqlite_store.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "base/log.h"
#include "engine/sql/checked_vfs.h"
#include "engine/sql/fault_vfs_for_test.h"
#include "providers/sqlite/migrations.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/store_for_test.h"

namespace footnote {
namespace {

using contract::draft_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SqliteStoreFileTest : public SqliteStoreTest {
 protected:
  sql::FaultVfs disk_;  // outlives the store, which TearDown() closes

  std::filesystem::path file() const { return folder_.path() / kStoreFile; }
  /// The error from opening the store.
  Error refusal() {
    store_.reset();
    auto opened = SqliteStore::open(folder_.path(), {}, clock_);
    EXPECT_FALSE(opened.has_value());
    return opened ? Error{} : opened.error();
  }
  std::size_t live_chunks() {
    const auto changes = chunks().changes(call_, corpus_, 0, 1'000'000);
    EXPECT_TRUE(changes.has_value()) << changes.error().message;
    return changes ? changes->added.size() - changes->removed.size() : 0;
  }
};

TEST_F(SqliteStoreFileTest, OpensAgainWithoutChange) {
  ASSERT_TRUE(commit({draft_of("a", {"x"})}).has_value());
  open();
  const auto number = store_->read(call_, [](sql::Database& database) { return database.schema_number(); });
  EXPECT_EQ(number.value(), newest_schema());
  EXPECT_EQ(live_chunks(), 1U);
}

TEST_F(SqliteStoreFileTest, ANewerSchemaIsRefusedAndLeftAlone) {
  ASSERT_TRUE(store_->write(call_, [](sql::Database& database) { return database.set_schema_number(99); }).has_value());
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(error.message, HasSubstr(fmt::format("(schema 99, this one knows {})", newest_schema())));
  EXPECT_THAT(error.message, HasSubstr("upgrade footnote"));
}

TEST_F(SqliteStoreFileTest, AnotherProgramsDatabaseIsRefused) {
  ASSERT_TRUE(store_->write(call_, [](sql::Database& database) { return database.set_application_id(1); }).has_value());
  EXPECT_EQ(refusal().code, ErrorCode::kFailedPrecondition);
  std::filesystem::remove(file());
  {
    const auto foreign = sql::Database::open(file(), {}).value();
    ASSERT_TRUE(foreign->execute("CREATE TABLE theirs (a)").has_value());
  }
  EXPECT_EQ(refusal().code, ErrorCode::kFailedPrecondition);
}

TEST_F(SqliteStoreFileTest, AFileThatIsNoDatabaseIsCorruptedAndNamesTheFix) {
  store_.reset();
  std::ofstream(file(), std::ios::trunc) << std::string(20'000, 'x');
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kCorrupted);
  EXPECT_THAT(error.message, HasSubstr("restore it from a snapshot"));
}

TEST_F(SqliteStoreFileTest, AFullStoreKeepsWhatItHas) {
  open({.bytes_max = 1 << 20});
  const std::string page(20'000, 'x');
  int kept = 0;
  Result<CommitReceipt> outcome;
  while ((outcome = commit({draft_of(fmt::format("{}", kept), {page})})) && kept < 1000) ++kept;
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::kStorageFull);
  EXPECT_GT(kept, 3);
  EXPECT_EQ(live_chunks(), static_cast<std::size_t>(kept));
  EXPECT_EQ(catalog().corpus(call_, corpus_)->generation, kept);
  EXPECT_THAT(found(), IsEmpty());
  open();
  EXPECT_TRUE(commit({draft_of("more", {page})}).has_value()) << "with free space again";
}

TEST_F(SqliteStoreFileTest, AFaultAtAnyWriteLeavesAllOrNothing) {
  set_log_level(LogLevel::kError);  // checkpoints fail constantly and are logged
  open({.wal_bytes_max = 64 << 10, .vfs = sql::FaultVfs::kName});
  std::size_t expected = 0;
  int acknowledged = 0;
  const std::vector<std::string> texts(20, std::string(2000, 'x'));
  for (int nth = 1; nth <= 60; ++nth) {
    disk_.fail_writes(nth, nth % 2 == 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE);
    const auto outcome = commit({draft_of(fmt::format("{}", nth), texts)});
    disk_.fail_writes(0, 0);
    if (outcome) {
      ++acknowledged;
      expected += texts.size();
    } else {
      EXPECT_THAT((std::vector{ErrorCode::kStorageFull, ErrorCode::kUnavailable}), Contains(outcome.error().code));
    }
    ASSERT_EQ(live_chunks(), expected) << nth;
  }
  EXPECT_GT(acknowledged, 0) << "faults in the checkpoint after a commit do not undo it";
  EXPECT_THAT(found(), IsEmpty());
  open({.vfs = sql::FaultVfs::kName});
  EXPECT_EQ(live_chunks(), expected);
  store_.reset();
  set_log_level(LogLevel::kInfo);
}

TEST_F(SqliteStoreFileTest, AnAcknowledgedCommitSurvivesKill) {
  store_.reset();
  std::mt19937 random(7);
  int acknowledged = 0;
  for (int cycle = 0; cycle < 8; ++cycle) {
    int news[2];
    ASSERT_EQ(::pipe(news), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = SqliteStore::open(folder_.path(), {.wal_bytes_max = 100'000}, clock_);
      SqliteChunkStore writer(**store);
      for (int i = acknowledged + 1;; ++i) {
        const std::vector drafts{draft_of(fmt::format("{}", i), std::vector<std::string>(10, std::string(500, 'k')))};
        if (!writer.commit({}, corpus_, drafts, {})) ::_exit(1);
        (void)!::write(news[1], "k", 1);
      }
    }
    ::close(news[1]);
    // Half of the children are killed once they have committed something, however slow the machine is.
    pollfd first{.fd = news[0], .events = POLLIN, .revents = 0};
    if (cycle % 2 == 0) {
      ASSERT_EQ(::poll(&first, 1, 10'000), 1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{30 + random() % 60});
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    char byte = 0;
    while (::read(news[0], &byte, 1) == 1) ++acknowledged;
    ::close(news[0]);

    open();
    const auto generation = catalog().corpus(call_, corpus_)->generation;
    EXPECT_GE(generation, acknowledged);
    EXPECT_LE(generation, acknowledged + 1) << "the last one may be there unacknowledged";
    EXPECT_EQ(live_chunks(), static_cast<std::size_t>(generation) * 10);
    EXPECT_THAT(found(), IsEmpty());
    acknowledged = static_cast<int>(generation);
    store_.reset();
  }
  EXPECT_GT(acknowledged, 0);
}

TEST_F(SqliteStoreFileTest, FlippedBitsNeverCrash) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(commit({draft_of(fmt::format("{}", i), {"one", "two"})}).has_value());
  store_.reset();
  std::string bytes;
  {
    std::ifstream in(file(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::mt19937 random(42);
  int noticed = 0;
  for (int round = 0; round < 60; ++round) {
    std::string damaged = bytes;
    for (int flips = 0; flips < 4; ++flips) {
      char& byte = damaged[random() % damaged.size()];
      byte = static_cast<char>(byte ^ (1 << (random() % 8)));
    }
    std::ofstream(file(), std::ios::binary | std::ios::trunc).write(damaged.data(), static_cast<std::streamsize>(damaged.size()));
    auto opened = SqliteStore::open(folder_.path(), {}, clock_);
    if (!opened) {
      ++noticed;
      continue;
    }
    store_ = std::move(*opened);
    const auto findings = store_->check(call_);
    noticed += !findings || !findings->empty() ? 1 : 0;
    const auto documents = chunks().documents(call_, corpus_, "", 100);
    if (documents && !documents->empty()) (void)chunks().document_text(call_, workspace_, documents->front().id, 0);
    (void)chunks().changes(call_, corpus_, 0, 100);
    (void)commit({draft_of("0", {"three"})});
    store_.reset();
  }
  EXPECT_GT(noticed, 0);
}

TEST_F(SqliteStoreFileTest, CheckFindsNothingInASoundStore) {
  ASSERT_TRUE(commit({draft_of("a", {"1", "2"}), draft_of("b", {"3"}), draft_of("c", {})}).has_value());
  ASSERT_TRUE(commit({draft_of("a", {"4"})}, {"b"}).has_value());
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(SqliteStoreFileTest, CheckFindsWhatIsBroken) {
  const auto broken = [&](sql::SqlText script) {
    SetUp();
    ASSERT_TRUE(commit({draft_of("a", {"1", "2"}), draft_of("b", {"3"})}).has_value());
    ASSERT_TRUE(commit({draft_of("a", {"4", "5"})}).has_value());
    execute(script);
  };
  const auto restart = [&] {
    store_.reset();
    std::filesystem::remove(file());
  };
  restart();
  broken("UPDATE documents SET deleted_at = 1 WHERE key = 'b'");
  EXPECT_THAT(found(), Contains("live_version"));
  restart();
  broken("UPDATE document_versions SET died = NULL, died_at = NULL");
  EXPECT_THAT(found(), Contains("live_version"));
  restart();
  broken("DELETE FROM chunks WHERE text = '3'");
  EXPECT_THAT(found(), Contains("chunk_count"));
  restart();
  broken("UPDATE chunks SET died = NULL, died_at = NULL");
  EXPECT_THAT(found(), Contains("orphan_chunks"));
  restart();
  broken("DELETE FROM chunk_vectors WHERE chunk_id = 3");
  EXPECT_THAT(found(), Contains("vectors"));
  restart();
  broken("UPDATE chunk_vectors SET vectors = zeroblob(8) WHERE chunk_id = 3");
  EXPECT_THAT(found(), Contains("vectors"));
  restart();
  broken("UPDATE chunks SET born = 9 WHERE text = '3'");
  EXPECT_THAT(found(), Contains("generations"));
  restart();
  broken("UPDATE chunks SET died = 0 WHERE text = '1'");
  EXPECT_THAT(found(), Contains("generations"));
  restart();
  broken("UPDATE chunks SET corpus_id = 77 WHERE text = '3'");
  EXPECT_THAT(found(), Contains("corpus"));
}

/// The query plans of the statements that the store's own calls ran.
class SqlitePlans : public SqliteStoreFileTest {
 protected:
  void SetUp() override {
    SqliteStoreFileTest::SetUp();
    ASSERT_TRUE(commit({draft_of("a", {"1"}), draft_of("b", {"2"})}).has_value());
    ASSERT_TRUE(commit({draft_of("a", {"3"})}).has_value());
    ASSERT_TRUE(commit({draft_of("c", {"4"})}, {"b"}).has_value());
    open({.on_statement = &observer_});
    ASSERT_EQ(sqlite3_open_v2(file().c_str(), &planner_, SQLITE_OPEN_READONLY, sql::checked_vfs(nullptr)), SQLITE_OK);
  }
  void TearDown() override {
    sqlite3_close(planner_);
    SqliteStoreFileTest::TearDown();
  }

  template <class Body>
  std::string plans(Body&& body) {
    statements_.clear();
    const auto done = body();
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
    std::string out;
    for (const std::string& statement : statements_) {
      if (!statement.starts_with("--")) out += plan_of(statement);  // skip statements of triggers
    }
    return out;
  }

 private:
  std::string plan_of(const std::string& statement) {
    std::string out;
    const auto take = [](void* rows, int, char** values, char**) {
      *static_cast<std::string*>(rows) += std::string(values[3]) + "\n";
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(planner_, ("EXPLAIN QUERY PLAN " + statement).c_str(), take, &out, nullptr), SQLITE_OK) << statement;
    return out;
  }

  std::vector<std::string> statements_;
  const sql::StatementObserver observer_ = [this](std::string_view sql) { statements_.emplace_back(sql); };
  sqlite3* planner_ = nullptr;
};

TEST_F(SqlitePlans, NoLookupReadsAWholeTable) {
  const auto searches = ::testing::Not(HasSubstr("SCAN"));
  const auto streams = ::testing::Not(HasSubstr("TEMP B-TREE"));
  const std::string changes = plans([&] { return chunks().changes(call_, corpus_, 1, 100); });
  EXPECT_THAT(changes, AllOf(HasSubstr("chunks_born"), HasSubstr("chunks_dead"), searches, streams));
  const std::string purge = plans([&] { return chunks().purge(call_, corpus_, clock_.now()); });
  EXPECT_THAT(purge, AllOf(HasSubstr("chunks_dead"), searches, streams));
  const std::vector<std::string> hashes{"x"};
  EXPECT_THAT(plans([&] { return chunks().embeddings_by_hash(call_, corpus_, hashes); }), AllOf(HasSubstr("chunks_hash"), searches));
  SqliteConversationStore conversations(*store_);
  const Turn turn{.id = {"turn_1"},
                  .workspace = workspace_,
                  .corpus = corpus_,
                  .conversation = {"conv_1"},
                  .question = "q",
                  .outcome = Refusal{.reason = RefusalReason::kNoRelevantContext, .text = "", .nearest = {}}};
  ASSERT_TRUE(conversations.finish_turn(call_, turn, 0, 0, {}).has_value());
  EXPECT_THAT(plans([&] { return conversations.history(call_, workspace_, {"conv_1"}, 6); }),
              AllOf(HasSubstr("turns_conversation"), searches, streams));
  EXPECT_THAT(plans([&] { return conversations.gaps(call_, corpus_, 9); }), AllOf(HasSubstr("gaps_open"), searches, streams));
}

}  // namespace
}  // namespace footnote
