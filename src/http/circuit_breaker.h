#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace footnote::http {

/// Peers that are remembered because they failed; past it failures of others are not counted.
inline constexpr std::size_t kBreakerPeersMax = 1'024;

struct BreakerOptions {
  int failures_max = 0;                        ///< Failures in a row after which a peer is left alone; 0: never.
  std::chrono::milliseconds rest_time{5'000};  ///< For how long; then one call tries it.
};

/// Keeps calls from a peer that failed again and again: they fail at once instead of waiting for it, and it gets time to recover. After the
/// rest one call is let through: when that does well the peer is as good as new, when not it rests again. Thread-safe.
class CircuitBreaker {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Outcome {
    kGood,
    kFailed,
    kUnknown,  ///< The caller gave up: it says nothing of the peer.
  };

  explicit CircuitBreaker(BreakerOptions options) : options_(options) {}

  /// kUnavailable while the peer rests. Each call that is let through must be told of by `ended`.
  Result<void> admit(const std::string& peer, Time now);
  void ended(const std::string& peer, Outcome outcome, Time now);

 private:
  struct Peer {
    int failures = 0;
    Time rests_until;
    bool probing = false;  // the one call that tries it is under way
  };
  bool is_open(const Peer& peer) const { return peer.failures >= options_.failures_max; }

  const BreakerOptions options_;
  Mutex mutex_;
  std::map<std::string, Peer> peers_ FOOTNOTE_TSA(guarded_by(mutex_));  // those that failed last
};

}  // namespace footnote::http
