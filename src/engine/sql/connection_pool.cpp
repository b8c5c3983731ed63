#include "engine/sql/connection_pool.h"

#include <stop_token>

#include "base/assert.h"

namespace footnote::sql {

ConnectionPool::ConnectionPool(std::vector<std::unique_ptr<Database>> connections) : connections_(std::move(connections)) {
  const MutexLock lock(mutex_);
  for (const auto& connection : connections_) free_.push_back(connection.get());
}

ConnectionPool::~ConnectionPool() {
  const MutexLock lock(mutex_);
  FOOTNOTE_ASSERT(free_.size() == connections_.size());
}

Result<Database*> ConnectionPool::acquire(const CallContext& call) {
  FOOTNOTE_CHECK(call.check());
  // Declared before the lock: its callback takes the lock, and its destructor waits for a running callback.
  const std::stop_callback wake(call.stop, [this] {
    const MutexLock lock(mutex_);
    freed_.notify_all();
  });
  MutexLock lock(mutex_);
  while (free_.empty()) {
    FOOTNOTE_CHECK(call.check());
    freed_.wait_until(lock, call.deadline);
  }
  Database* connection = free_.back();
  free_.pop_back();
  return connection;
}

void ConnectionPool::release(Database& connection) {
  const MutexLock lock(mutex_);
  free_.push_back(&connection);
  // Notify all: a single waiter might find its call over and swallow the notification.
  freed_.notify_all();
}

}  // namespace footnote::sql
