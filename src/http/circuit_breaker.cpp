#include "http/circuit_breaker.h"

#include "base/log.h"

namespace footnote::http {

Result<void> CircuitBreaker::admit(const std::string& peer, Time now) {
  if (options_.failures_max == 0) return {};
  MutexLock lock(mutex_);
  const auto found = peers_.find(peer);
  if (found == peers_.end() || !is_open(found->second)) return {};
  Peer& state = found->second;
  if (now < state.rests_until || state.probing) {
    return with_public_message(fail(ErrorCode::kUnavailable, "{} failed {} times in a row; calls to it are paused", peer, state.failures),
                               fmt::format("another server failed {} times in a row; calls to it are paused", state.failures));
  }
  state.probing = true;
  return {};
}

void CircuitBreaker::ended(const std::string& peer, Outcome outcome, Time now) {
  if (options_.failures_max == 0) return;
  MutexLock lock(mutex_);
  auto found = peers_.find(peer);
  switch (outcome) {
    case Outcome::kGood:
      if (found == peers_.end()) return;
      if (is_open(found->second)) log(LogLevel::kInfo, "http", "an upstream recovered", {{"upstream", peer}});
      peers_.erase(found);
      return;
    case Outcome::kUnknown:
      if (found != peers_.end()) found->second.probing = false;
      return;
    case Outcome::kFailed: break;
  }
  if (found == peers_.end()) {
    if (peers_.size() >= kBreakerPeersMax) return;
    found = peers_.emplace(peer, Peer{}).first;
  }
  Peer& state = found->second;
  ++state.failures;
  state.probing = false;
  if (!is_open(state)) return;
  state.rests_until = now + options_.rest_time;
  if (state.failures == options_.failures_max) {
    log(LogLevel::kWarn, "http", "an upstream failed too often; calls to it are paused",
        {{"upstream", peer}, {"failures", state.failures}, {"rest_ms", options_.rest_time.count()}});
  }
}

}  // namespace footnote::http
