#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "engine/sql/connection_pool.h"

namespace footnote::sql {

/// A borrowed read-only connection inside one read transaction: all reads see one state of the database. Returned to its pool at the end of
/// the scope. Statements stop when the call ends.
class ReadLease {
 public:
  ~ReadLease();
  ReadLease(ReadLease&& other) noexcept : pool_(other.pool_), database_(std::exchange(other.database_, nullptr)) {}
  ReadLease& operator=(ReadLease&&) = delete;

  Database& database() { return *database_; }

 private:
  friend class ReaderPool;
  ReadLease(ConnectionPool& pool, Database& database) : pool_(&pool), database_(&database) {}

  ConnectionPool* pool_;
  Database* database_;
};

/// A fixed number of read-only connections to a file that a Writer has open. Readers never wait for the writer, only for each other when
/// all connections are in use. They never checkpoint. Thread-safe.
class ReaderPool {
 public:
  /// REQUIRES: the file's Writer is opened before and closed after.
  static Result<std::unique_ptr<ReaderPool>> open(const std::filesystem::path& file, OpenOptions options, std::size_t count);

  /// Borrows `call` for the lifetime of the lease. kDeadlineExceeded, kCancelled.
  Result<ReadLease> acquire(const CallContext& call);

 private:
  explicit ReaderPool(std::vector<std::unique_ptr<Database>> connections) : pool_(std::move(connections)) {}

  ConnectionPool pool_;
};

}  // namespace footnote::sql
