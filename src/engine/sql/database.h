#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/call_context.h"
#include "engine/sql/sql_text.h"
#include "engine/sql/statement.h"

struct sqlite3;

namespace footnote::sql {

/// Prepared statements that a connection keeps for reuse; past this, new ones are made and dropped.
inline constexpr std::size_t kStatementsKeptMax = 128;
/// The longest text or blob that a row may hold.
inline constexpr int kValueBytesMax = 256 << 20;

enum class Access { kReadOnly, kReadWrite };

struct OpenOptions {
  Access access = Access::kReadWrite;  ///< kReadWrite makes the file when it is not there.
  std::chrono::milliseconds busy_timeout{5000};
  int cache_kib = 8 << 10;
  int page_bytes = 8192;                    ///< Of a file that is made; an existing one keeps its own.
  std::uint64_t bytes_max = 0;              ///< The database may not grow past this; 0: as far as the disk goes.
  std::uint64_t log_bytes_kept = 16 << 20;  ///< The log's file is cut to this when it starts over.
  const char* vfs = nullptr;                ///< SQLite's file layer by name; tests put one with faults here.
  /// Counts every statement that begins, transactions included; for tests. Outlives the connection.
  std::atomic<std::uint64_t>* statements = nullptr;
};

/// One connection to an SQLite file in WAL mode: synchronous=FULL, foreign keys on, no memory mapping, hardened
/// against damaged files, with a checksum on every page of a file that it makes (see checked_vfs). It never checkpoints
/// by itself (see Writer). One thread at a time.
///
/// Errors: see make_error. kCorrupted from open(): the file is no database.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file, const OpenOptions& options);
  /// REQUIRES: its statements are gone.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// The statement for that text: a kept one where there is one.
  Result<Statement> prepare(SqlText sql);
  /// Runs a script of constants to its end: schema steps, pragmas.
  Result<void> execute(SqlText script);

  /// Until it is called with null, statements that run on end with kCancelled or kDeadlineExceeded as soon as
  /// `call` is over. Borrows `call`.
  void watch(const CallContext* call);

  /// Numbers of the file's header: whose file it is, and the number of its schema. Transactional.
  Result<std::int32_t> application_id();
  Result<void> set_application_id(std::int32_t id);
  Result<std::int32_t> schema_number();
  Result<void> set_schema_number(std::int32_t number);

  /// Whether the file's pages carry checksums: those of files that were made without do not until they are added. That
  /// writes the whole file anew, in one step that a crash undoes. REQUIRES: no other connection, no transaction.
  bool has_page_sums();
  Result<void> add_page_sums();

  /// Makes a new file that holds what this connection's transaction sees, page by page, with checksums of its own, while others read
  /// and write. It ends when `call` does. After an error a part of the file may be there. REQUIRES: a read transaction; no such file.
  Result<void> copy_to(const CallContext& call, const std::filesystem::path& file, OpenOptions options);

  std::int64_t last_insert_id() const;
  /// Rows that the last INSERT, UPDATE or DELETE touched.
  std::int64_t changed_rows() const;
  bool in_transaction() const;
  /// Bytes in the write-ahead log after this connection's last commit.
  std::uint64_t wal_bytes() const { return wal_pages_ * page_bytes_; }
  /// True once the disk refused to make a write durable; what it holds since then can't be relied on.
  bool sync_failed() const { return sync_failed_; }
  const std::filesystem::path& file() const { return file_; }

  enum class Checkpoint { kPassive, kTruncate };
  /// Moves the log's pages into the file. kPassive waits for nobody; kTruncate waits for readers, up to
  /// `patience`, then empties the log. False: readers were in the way of a part of it.
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
  void keep(std::string_view sql, sqlite3_stmt* handle);

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
