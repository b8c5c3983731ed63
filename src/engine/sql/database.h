#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/call_context.h"
#include "engine/sql/sql_text.h"
#include "engine/sql/statement.h"

struct sqlite3;

namespace footnote::sql {

/// Prepared statements that a connection caches; further ones are not reused.
inline constexpr std::size_t kStatementsKeptMax = 128;
/// The longest text or blob in a row.
inline constexpr int kValueBytesMax = 256 << 20;

enum class Access { kReadOnly, kReadWrite };

/// Gets the text of every statement that starts, transactions included, with `?` where values are bound. Called on the thread that runs it.
using StatementObserver = std::function<void(std::string_view sql)>;

struct OpenOptions {
  Access access = Access::kReadWrite;  ///< kReadWrite creates the file if it does not exist.
  std::chrono::milliseconds busy_timeout{5000};
  int cache_kib = 8 << 10;
  int page_bytes = 8192;                            ///< Of a new file; an existing one keeps its page size.
  std::uint64_t bytes_max = 0;                      ///< Maximum size of the database; 0: unlimited.
  std::uint64_t log_bytes_kept = 16 << 20;          ///< The WAL file is truncated to this size when it restarts.
  const char* vfs = nullptr;                        ///< SQLite VFS by name; tests use one that injects faults.
  const StatementObserver* on_statement = nullptr;  ///< For tests. Must outlive the connection.
};

/// One connection to an SQLite file in WAL mode: synchronous=FULL, foreign keys on, no memory mapping, hardened against damaged files, with
/// page checksums in files that it creates (see checked_vfs). It never checkpoints automatically (see Writer). Used by one thread at a
/// time.
///
/// Errors: see make_error. kCorrupted from open(): the file is not a database.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file, const OpenOptions& options);
  /// REQUIRES: all of its statements have been destroyed.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Returns the cached statement for that text, or prepares a new one.
  Result<Statement> prepare(SqlText sql);
  /// Runs a constant script: schema steps, pragmas.
  Result<void> execute(SqlText script);

  /// From now on running statements fail with kCancelled or kDeadlineExceeded once `call` is over; null ends this. Borrows `call`.
  void watch(const CallContext* call);

  /// Fields of the file's header: the application id and the schema version. Transactional.
  Result<std::int32_t> application_id();
  Result<void> set_application_id(std::int32_t id);
  Result<std::int32_t> schema_number();
  Result<void> set_schema_number(std::int32_t number);

  /// Whether the file has page checksums. Files created without them get them by add_page_sums(), which rewrites the whole file in one
  /// transaction. REQUIRES: no other connection, no transaction.
  bool has_page_sums();
  Result<void> add_page_sums();

  /// Creates a new file with the state that this connection's transaction sees, page by page, with its own checksums, while others read and
  /// write. Stops when `call` ends. After an error a partial file may exist. REQUIRES: a read transaction; the file does not exist.
  Result<void> copy_to(const CallContext& call, const std::filesystem::path& file, OpenOptions options);

  std::int64_t last_insert_id() const;
  /// The number of rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changed_rows() const;
  bool in_transaction() const;
  /// Rolls back an open transaction. For destructors: works even when memory is exhausted.
  void abandon_transaction() noexcept;
  /// The size of the WAL after this connection's last commit.
  std::uint64_t wal_bytes() const { return wal_pages_ * page_bytes_; }
  /// True once an fsync failed: data written since then can't be trusted.
  bool sync_failed() const { return sync_failed_; }
  const std::filesystem::path& file() const { return file_; }

  enum class Checkpoint { kPassive, kTruncate };
  /// Copies pages from the WAL into the database. kPassive never waits; kTruncate waits for readers up to `patience`, then empties the WAL.
  /// False: readers blocked part of it.
  Result<bool> checkpoint(Checkpoint mode, std::chrono::milliseconds patience);

 private:
  friend class Statement;

  Database(std::filesystem::path file, const OpenOptions& options);
  Result<void> configure(const OpenOptions& options);
  Result<void> configure_writing(const OpenOptions& options);
  Result<void> set_pragma(std::string_view name, std::int64_t value);
  Result<std::int64_t> integer_of(SqlText sql);
  std::unexpected<Error> failure(int code);
  Result<void> status_of(int code);
  void keep(std::string_view sql, sqlite3_stmt* handle) noexcept;

  // Constant after open.
  const std::filesystem::path file_;
  const std::chrono::milliseconds busy_timeout_;
  sqlite3* handle_ = nullptr;
  std::uint64_t page_bytes_ = 0;

  std::unordered_map<std::string_view, sqlite3_stmt*> kept_;
  const CallContext* watched_ = nullptr;
  std::uint64_t wal_pages_ = 0;
  bool sync_failed_ = false;
};

}  // namespace footnote::sql
