#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <utility>

#include "engine/sql/connection_pool.h"

namespace footnote::sql {

class Writer;

/// The writing connection on loan to one caller. Goes back at the end of the scope.
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

/// The one connection that writes and the only one that checkpoints: SQLite before 3.51.3 can lose commits when
/// two connections checkpoint at once. It does so when the log has passed `wal_bytes_max`, and at close.
/// Thread-safe: callers take turns.
class Writer {
 public:
  /// Makes the file when it is not there. kCorrupted: the log that a crash left is damaged (see check_log).
  static Result<std::unique_ptr<Writer>> open(const std::filesystem::path& file, OpenOptions options, std::uint64_t wal_bytes_max);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Borrows `call` for as long as the lease lives. kDeadlineExceeded, kCancelled; kUnavailable for good once the
  /// disk failed to make a write durable: what was acknowledged before is safe, nothing after can be promised.
  Result<WriteLease> acquire(const CallContext& call);
  /// False once acquire() would refuse for good; the process should end.
  bool healthy() const { return !failed_.load(); }

  /// How far past `wal_bytes_max` the log may grow under readers that overlap without a gap before the writer
  /// waits for them.
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
  // Touched only by the lease's holder.
  std::uint64_t next_truncate_bytes_ = 0;
};

}  // namespace footnote::sql
