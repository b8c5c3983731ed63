#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace footnote::http {

/// Maximum number of failing peers to track; failures of further peers are not counted.
inline constexpr std::size_t kBreakerPeersMax = 1'024;

struct BreakerOptions {
  int failures_max = 0;                        ///< Consecutive failures that open the circuit; 0: never.
  std::chrono::milliseconds rest_time{5'000};  ///< How long it stays open; then one call probes the peer.
};

/// Fails calls to a repeatedly failing peer immediately, which spares callers the wait and gives the peer time to recover. After rest_time
/// one probe is let through: success closes the circuit, failure opens it again. Thread-safe.
class CircuitBreaker {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Outcome {
    kGood,
    kFailed,
    kUnknown,  ///< The caller cancelled, which says nothing about the peer.
  };

  explicit CircuitBreaker(BreakerOptions options) : options_(options) {}

  /// kUnavailable while the circuit is open. Every admitted call must be reported with `ended`.
  Result<void> admit(const std::string& peer, Time now);
  void ended(const std::string& peer, Outcome outcome, Time now);

 private:
  struct Peer {
    int failures = 0;
    Time rests_until;
    bool probing = false;  // the probe is in progress
  };
  bool is_open(const Peer& peer) const { return peer.failures >= options_.failures_max; }

  const BreakerOptions options_;
  Mutex mutex_;
  std::map<std::string, Peer> peers_ FOOTNOTE_TSA(guarded_by(mutex_));  // peers whose last call failed
};

}  // namespace footnote::http
