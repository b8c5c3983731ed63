#pragma once

#include "engine/sql/database.h"

namespace footnote::sql {

/// A write transaction: its changes are visible to all after a successful commit(), and discarded otherwise.
class Transaction {
 public:
  /// Takes the write lock at once (BEGIN IMMEDIATE), so that later statements can't fail for lack of it.
  static Result<Transaction> begin(Database& database);
  /// Rolls back unless committed.
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  /// Durable when it succeeds. After an error nothing of the transaction is kept.
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  void roll_back();

  Database* database_;
};

}  // namespace footnote::sql
