#include "http/idle_connections.h"

#include <algorithm>

#include "http/client_call.h"

namespace footnote::http {

std::unique_ptr<Transport> IdleConnections::take(const std::string& key) {
  while (auto transport = take_youngest(key)) {
    if (transport->is_quiet()) return transport;
  }
  return nullptr;
}

/// The youngest connection is the least likely to be closed by the peer during the call.
std::unique_ptr<Transport> IdleConnections::take_youngest(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.rend()) return nullptr;
  std::unique_ptr<Transport> transport = std::move(found->transport);
  entries_.erase(std::next(found).base());
  return transport;
}

void IdleConnections::put(std::string key, std::unique_ptr<Transport> transport) {
  if (count_max_ == 0 || !transport->is_quiet()) return;
  const auto until = std::chrono::steady_clock::now() + time_max_;
  MutexLock lock(mutex_);
  if (entries_.size() >= count_max_) entries_.erase(entries_.begin());
  entries_.push_back({std::move(key), std::move(transport), until});
  if (std::exchange(sweeping_, true)) return;
  asio::post(executor_, [this, until] { sweep_.arm(until); });
}

void IdleConnections::drop_old() {
  const auto now = std::chrono::steady_clock::now();
  MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.until <= now; });
  sweeping_ = !entries_.empty();
  if (sweeping_) sweep_.arm(entries_.front().until);
}

IdleConnections& UpstreamPools::of(ClientCore& client) {
  MutexLock lock(mutex_);
  const ClientOptions& options = client.shared().options;
  return pools_.try_emplace(&client, executor_, options.idle_connections_max, options.idle_time_max).first->second;
}

}  // namespace footnote::http
