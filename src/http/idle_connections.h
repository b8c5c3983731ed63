#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "http/transport.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

/// Pool of idle upstream connections on the I/O threads of one context. Thread-safe.
class IdleConnections {
 public:
  /// `executor` runs the sweep and must run one thing at a time.
  IdleConnections(const asio::any_io_executor& executor, std::size_t count_max, std::chrono::milliseconds time_max)
      : executor_(executor), count_max_(count_max), time_max_(time_max), sweep_(executor, [this] { drop_old(); }) {}

  const asio::any_io_executor& executor() const { return executor_; }
  /// Returns an open connection for this key ("https://host:port"), or null.
  std::unique_ptr<Transport> take(const std::string& key);
  /// Beyond count_max the oldest connection is closed.
  void put(std::string key, std::unique_ptr<Transport> transport);

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<Transport> transport;
    std::chrono::steady_clock::time_point until;
  };
  std::unique_ptr<Transport> take_youngest(const std::string& key);
  void drop_old();

  const asio::any_io_executor executor_;
  const std::size_t count_max_;
  const std::chrono::milliseconds time_max_;
  Watchdog sweep_;  // on executor_

  Mutex mutex_;
  std::vector<Entry> entries_ FOOTNOTE_TSA(guarded_by(mutex_));  // oldest first
  bool sweeping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;       // the sweep is armed or about to be
};

class ClientCore;

/// A server's connections to upstreams, for calls that run on its I/O threads. A socket can't be served by two contexts, so each client
/// called from there has a second pool. Thread-safe.
class UpstreamPools {
 public:
  explicit UpstreamPools(const asio::any_io_executor& executor) : executor_(executor) {}
  /// Uses the limits of the client's own options.
  IdleConnections& of(ClientCore& client);

 private:
  const asio::any_io_executor executor_;
  Mutex mutex_;
  std::map<const ClientCore*, IdleConnections> pools_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::http
