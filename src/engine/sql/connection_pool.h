#pragma once

#include <memory>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "engine/sql/database.h"

namespace footnote::sql {

/// A fixed set of connections, each used by one caller at a time. Thread-safe.
class ConnectionPool {
 public:
  explicit ConnectionPool(std::vector<std::unique_ptr<Database>> connections);
  /// REQUIRES: all connections have been returned.
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  /// Waits for a free connection, at most until `call` ends: kDeadlineExceeded, kCancelled.
  Result<Database*> acquire(const CallContext& call);
  void release(Database& connection);

 private:
  // Constant after construction.
  const std::vector<std::unique_ptr<Database>> connections_;

  // Guarded by mutex_.
  Mutex mutex_;
  CondVar freed_;
  std::vector<Database*> free_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::sql
