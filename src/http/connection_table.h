#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

class Connection;

/// The open connections of a server, and which of them are idle: no byte of a request has arrived since the connection was opened or its
/// last response was sent. Thread-safe.
class ConnectionTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `per_peer_max` 0: no limit.
  ConnectionTable(std::size_t connections_max, std::size_t per_peer_max) : connections_max_(connections_max), per_peer_max_(per_peer_max) {}

  enum class Room { kFree, kFull, kPeerFull };
  /// Whether this peer may open another connection. If the table is full, evicts the connection that was idle longest, and returns it in
  /// `given_up` for the caller to close.
  Room make_room(const std::string& peer, std::shared_ptr<Connection>& given_up);

  void add(const std::shared_ptr<Connection>& connection, std::string peer);
  void remove(const Connection& connection);

  void begin_idle(const Connection& connection);
  /// False if the connection was evicted meanwhile: it must close.
  [[nodiscard]] bool end_idle(const Connection& connection);

  std::vector<std::shared_ptr<Connection>> all();
  /// False if the deadline passed.
  bool wait_until_empty(Time deadline);

 private:
  using IdleList = std::list<const Connection*>;  // longest idle first
  struct Entry {
    std::weak_ptr<Connection> connection;  // owned by its coroutine
    std::string peer;
    IdleList::iterator idle;
    bool is_idle = false;
    bool given_up = false;
  };

  std::shared_ptr<Connection> give_up_longest_idle() FOOTNOTE_TSA(requires_capability(mutex_));
  void forget_peer(const std::string& peer) FOOTNOTE_TSA(requires_capability(mutex_));
  void leave_idle_list(Entry& entry) FOOTNOTE_TSA(requires_capability(mutex_));

  // Constant after construction.
  const std::size_t connections_max_;
  const std::size_t per_peer_max_;

  Mutex mutex_;
  CondVar emptied_;
  std::map<const Connection*, Entry> entries_ FOOTNOTE_TSA(guarded_by(mutex_));
  IdleList idle_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::string, std::size_t> by_peer_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t given_up_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // evicted entries of entries_: they no longer count against the limit
};

}  // namespace footnote::http
