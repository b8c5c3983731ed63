#include "engine/sql/reader_pool.h"

#include "base/contained.h"

namespace footnote::sql {

Result<std::unique_ptr<ReaderPool>> ReaderPool::open(const std::filesystem::path& file, OpenOptions options, std::size_t count) {
  if (count == 0) return fail(ErrorCode::kInvalidArgument, "a reader pool needs at least one connection");
  options.access = Access::kReadOnly;
  std::vector<std::unique_ptr<Database>> connections;
  for (std::size_t i = 0; i < count; ++i) {
    FOOTNOTE_TRY(auto connection, Database::open(file, options));
    connections.push_back(std::move(connection));
  }
  return std::unique_ptr<ReaderPool>(new ReaderPool(std::move(connections)));  // Private constructor.
}

Result<ReadLease> ReaderPool::acquire(const CallContext& call) {
  FOOTNOTE_TRY(Database* const database, pool_.acquire(call));
  ReadLease lease(pool_, *database);
  database->watch(&call);
  FOOTNOTE_TRY(auto begin, database->prepare("BEGIN"));
  FOOTNOTE_CHECK(begin.run());
  return lease;
}

ReadLease::~ReadLease() {
  if (database_ == nullptr) return;
  database_->watch(nullptr);
  (void)contained("sql", "ending a read", [this] {
    if (auto end = database_->prepare("COMMIT"); end && database_->in_transaction()) (void)end->run();
  });
  // A transaction that outlives its lease would show the next reader an old state.
  database_->abandon_transaction();
  pool_->release(*database_);
}

}  // namespace footnote::sql
