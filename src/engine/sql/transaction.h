#pragma once

#include "engine/sql/database.h"

namespace footnote::sql {

/// A write transaction: what it wrote is there for all when commit() returned well, and gone otherwise.
class Transaction {
 public:
  /// Takes the write lock at once (BEGIN IMMEDIATE), so that nothing fails for want of it later.
  static Result<Transaction> begin(Database& database);
  /// Rolls back what was not committed.
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  /// Durable when it returns without error. After an error nothing of the transaction is kept.
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  void roll_back();

  Database* database_;
};

}  // namespace footnote::sql
