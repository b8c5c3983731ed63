#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/secret_box.h"
#include "engine/sql/reader_pool.h"
#include "engine/sql/transaction.h"
#include "engine/sql/writer.h"

namespace footnote {

/// The database file in a data folder.
inline constexpr std::string_view kStoreFile = "footnote.db";
/// The file next to it with the key that encrypts secrets in the database. Created when the first secret is stored; a snapshot contains
/// both.
inline constexpr std::string_view kSecretKeyFile = "secret.key";

struct SqliteStoreOptions {
  std::size_t readers = 4;
  std::chrono::milliseconds busy_timeout{5000};
  std::uint64_t wal_bytes_max = 16 << 20;
  std::uint64_t bytes_max = 0;  ///< Size limit of the database (kStorageFull); 0: no limit.
  /// Deaths of purged chunks remembered per corpus, so that a lagging index can catch up.
  std::size_t purged_kept_max = 1'000'000;
  /// Traces of turns kept; older ones are deleted as new ones are stored. A trace takes about 20 KB of the file, so without a limit
  /// questions alone would fill a disk. 0: none is stored.
  std::size_t turn_traces_max = 10'000;
  const char* vfs = nullptr;                             ///< For tests: see sql::OpenOptions.
  const sql::StatementObserver* on_statement = nullptr;  ///< For tests too.
};

/// A problem found by check().
struct StoreFinding {
  std::string check;   ///< "integrity", "foreign_keys", "live_version" ...
  std::string detail;  ///< What and where, for people.
};

/// The embedded database: one writer, pooled readers, schema upgraded at open. The Sqlite*Store classes work on it; app code opens it after
/// taking the DataFolder's lock. Thread-safe. Must outlive the classes that use it.
class SqliteStore {
 public:
  /// REQUIRES: no other process has the folder's store open (see DataFolder); `clock` outlives the store. kFailedPrecondition: written by a
  /// newer footnote, or not by footnote. kCorrupted: damaged; the message names the fix.
  static Result<std::unique_ptr<SqliteStore>> open(const std::filesystem::path& folder, const SqliteStoreOptions& options,
                                                   const Clock& clock);

  /// Runs `body(sql::Database&) -> Result<T>` on one consistent state of the database.
  template <class Body>
  auto read(const CallContext& call, Body&& body) const -> decltype(body(std::declval<sql::Database&>())) {
    FOOTNOTE_TRY(auto lease, readers_->acquire(call));
    return body(lease.database());
  }

  /// Runs `body(sql::Database&) -> Result<T>` in a write transaction: returns its result only after a durable commit; its error rolls
  /// everything back.
  template <class Body>
  auto write(const CallContext& call, Body&& body) -> decltype(body(std::declval<sql::Database&>())) {
    auto result = write_once(call, std::forward<Body>(body));
    if (result || result.error().code == ErrorCode::kStorageFull) full_ = !result;
    return result;
  }

  /// Writes one consistent state of the database to a new file, while others read and write (see sql::Database::copy_to).
  Result<void> copy_to(const CallContext& call, const std::filesystem::path& file) const;

  /// Checks the whole store and returns the problems found; empty if there are none. Slow: for `doctor`.
  Result<std::vector<StoreFinding>> check(const CallContext& call) const;

  /// False once the disk failed to make a write durable; the process should then exit (see sql::Writer).
  bool healthy() const { return writer_->healthy(); }
  /// True while the last write failed because the disk was full.
  bool full() const { return full_; }
  /// Encrypts and decrypts secrets in the database. The first call opens the key file, or creates it.
  Result<SecretBox> secrets() const;
  const Clock& clock() const { return clock_; }
  const SqliteStoreOptions& options() const { return options_; }

 private:
  template <class Body>
  auto write_once(const CallContext& call, Body&& body) -> decltype(body(std::declval<sql::Database&>())) {
    FOOTNOTE_TRY(auto lease, writer_->acquire(call));
    FOOTNOTE_TRY(auto transaction, sql::Transaction::begin(lease.database()));
    auto result = body(lease.database());
    if (!result) return result;
    FOOTNOTE_CHECK(transaction.commit());
    return result;
  }

  SqliteStore(std::filesystem::path folder, const SqliteStoreOptions& options, const Clock& clock, std::unique_ptr<sql::Writer> writer,
              std::unique_ptr<sql::ReaderPool> readers);

  const std::filesystem::path folder_;
  const SqliteStoreOptions options_;
  const Clock& clock_;
  // In this order: readers close first, so that the writer's last checkpoint meets no reader.
  const std::unique_ptr<sql::Writer> writer_;
  const std::unique_ptr<sql::ReaderPool> readers_;
  std::atomic<bool> full_{false};
  mutable Mutex secrets_mutex_;
  mutable std::optional<SecretBox> secrets_ FOOTNOTE_TSA(guarded_by(secrets_mutex_));
};

}  // namespace footnote
