#include "http/connection_table.h"

#include <utility>

namespace footnote::http {

ConnectionTable::Room ConnectionTable::make_room(const std::string& peer, std::shared_ptr<Connection>& given_up) {
  MutexLock lock(mutex_);
  if (per_peer_max_ != 0) {
    const auto mine = by_peer_.find(peer);
    if (mine != by_peer_.end() && mine->second >= per_peer_max_) return Room::kPeerFull;
  }
  if (entries_.size() - given_up_ < connections_max_) return Room::kFree;
  given_up = give_up_longest_idle();
  return given_up ? Room::kFree : Room::kFull;
}

std::shared_ptr<Connection> ConnectionTable::give_up_longest_idle() {
  while (!idle_.empty()) {
    Entry& entry = entries_.at(idle_.front());
    leave_idle_list(entry);
    entry.given_up = true;
    ++given_up_;
    forget_peer(entry.peer);
    // Otherwise the connection has closed and is about to call remove(): its place is already free, but evict another one anyway.
    if (auto connection = entry.connection.lock()) return connection;
  }
  return nullptr;
}

void ConnectionTable::leave_idle_list(Entry& entry) {
  if (!std::exchange(entry.is_idle, false)) return;
  idle_.erase(entry.idle);
}

void ConnectionTable::forget_peer(const std::string& peer) {
  const auto found = by_peer_.find(peer);
  if (found != by_peer_.end() && --found->second == 0) by_peer_.erase(found);
}

void ConnectionTable::add(const std::shared_ptr<Connection>& connection, std::string peer) {
  MutexLock lock(mutex_);
  ++by_peer_[peer];
  Entry& entry = entries_[connection.get()];
  entry.connection = connection;
  entry.peer = std::move(peer);
}

void ConnectionTable::remove(const Connection& connection) {
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(&connection);
    if (found == entries_.end()) return;
    leave_idle_list(found->second);
    if (found->second.given_up) {
      --given_up_;
    } else {
      forget_peer(found->second.peer);
    }
    entries_.erase(found);
  }
  emptied_.notify_all();
}

void ConnectionTable::begin_idle(const Connection& connection) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(&connection);
  if (found == entries_.end() || found->second.is_idle || found->second.given_up) return;
  found->second.idle = idle_.insert(idle_.end(), &connection);
  found->second.is_idle = true;
}

bool ConnectionTable::end_idle(const Connection& connection) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(&connection);
  if (found == entries_.end() || found->second.given_up) return false;
  leave_idle_list(found->second);
  return true;
}

std::vector<std::shared_ptr<Connection>> ConnectionTable::all() {
  std::vector<std::shared_ptr<Connection>> out;
  MutexLock lock(mutex_);
  out.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
    if (auto connection = entry.connection.lock()) out.push_back(std::move(connection));
  }
  return out;
}

bool ConnectionTable::wait_until_empty(Time deadline) {
  MutexLock lock(mutex_);
  while (!entries_.empty()) {
    if (!emptied_.wait_until(lock, deadline) && std::chrono::steady_clock::now() >= deadline) break;
  }
  return entries_.empty();
}

}  // namespace footnote::http
