#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <utility>

#include "engine/sql/connection_pool.h"

namespace footnote::sql {

class Writer;

/// The write connection, borrowed by one caller. Returned at the end of the scope.
class WriteLease {
 public:
  ~WriteLease();
  WriteLease(WriteLease&& other) noexcept : writer_(other.writer_), database_(std::exchange(other.database_, nullptr)) {}
  WriteLease& operator=(WriteLease&&) = delete;

  Database& database() { return *database_; }

 private:
  friend class Writer;
  WriteLease(Writer& writer, Database& database) : writer_(&writer), database_(&database) {}

  Writer* writer_;
  Database* database_;
};

/// The only connection that writes, and the only one that checkpoints: SQLite before 3.51.3 can lose commits when two connections
/// checkpoint at once. It checkpoints when the WAL exceeds `wal_bytes_max`, and at close. Thread-safe: callers take turns.
class Writer {
 public:
  /// Creates the file if it does not exist. kCorrupted: the WAL that a crash left is damaged (see check_log).
  static Result<std::unique_ptr<Writer>> open(const std::filesystem::path& file, OpenOptions options, std::uint64_t wal_bytes_max);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Borrows `call` for the lifetime of the lease. kDeadlineExceeded, kCancelled. After a failed fsync every call returns kUnavailable:
  /// commits acknowledged before are safe, later ones can't be guaranteed.
  Result<WriteLease> acquire(const CallContext& call);
  /// False after a failed fsync: acquire() never succeeds again, so the process should exit.
  bool healthy() const { return !failed_.load(); }

  /// Overlapping readers can keep the WAL from shrinking. Beyond this multiple of `wal_bytes_max` the writer waits for them.
  static constexpr std::uint64_t kWalPatienceFactor = 4;

 private:
  friend class WriteLease;
  Writer(std::vector<std::unique_ptr<Database>> connection, std::uint64_t wal_bytes_max)
      : pool_(std::move(connection)), wal_bytes_max_(wal_bytes_max) {}
  void give_back(Database& database);
  void bound_log(Database& database);

  ConnectionPool pool_;
  const std::uint64_t wal_bytes_max_;
  std::atomic<bool> failed_{false};
  // Accessed only by the holder of the lease.
  std::uint64_t next_truncate_bytes_ = 0;
};

}  // namespace footnote::sql
