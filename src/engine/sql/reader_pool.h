#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "engine/sql/connection_pool.h"

namespace footnote::sql {

/// A read-only connection on loan, inside one read transaction: everything read through it comes from one state
/// of the database. Goes back to its pool at the end of the scope. Statements end when the call does.
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

/// A fixed number of read-only connections to a file that a Writer holds open. Readers never wait for the writer,
/// only for each other when all are lent. They never checkpoint. Thread-safe.
class ReaderPool {
 public:
  /// REQUIRES: the file's Writer was opened before and is closed after.
  static Result<std::unique_ptr<ReaderPool>> open(const std::filesystem::path& file, OpenOptions options, std::size_t count);

  /// Borrows `call` for as long as the lease lives. kDeadlineExceeded, kCancelled.
  Result<ReadLease> acquire(const CallContext& call);

 private:
  explicit ReaderPool(std::vector<std::unique_ptr<Database>> connections) : pool_(std::move(connections)) {}

  ConnectionPool pool_;
};

}  // namespace footnote::sql
