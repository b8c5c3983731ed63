#include "engine/sql/transaction.h"

#include "base/fault_point.h"

namespace footnote::sql {

Result<Transaction> Transaction::begin(Database& database) {
  FOOTNOTE_TRY(auto begin, database.prepare("BEGIN IMMEDIATE"));
  FOOTNOTE_CHECK(begin.run());
  return Transaction(database);
}

Transaction::~Transaction() { roll_back(); }

Result<void> Transaction::commit() {
  // From here on the call can't be cancelled: a commit runs to its end, so that the caller learns its result.
  database_->watch(nullptr);
  FOOTNOTE_TRY(auto commit, database_->prepare("COMMIT"));
  fault_point(FaultPoint::kCommitBefore);
  FOOTNOTE_CHECK(commit.run());
  fault_point(FaultPoint::kCommitAfter);
  database_ = nullptr;
  return {};
}

void Transaction::roll_back() {
  // SQLite has already rolled back after a full disk, an I/O error or an interrupted write.
  if (database_ == nullptr || !database_->in_transaction()) return;
  database_->watch(nullptr);
  database_->abandon_transaction();
}

}  // namespace footnote::sql
