#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/call_context.h"
#include "base/mutex.h"

namespace footnote {

struct HostGateOptions {
  std::chrono::milliseconds delay{200};  ///< The least time between the starts of two requests to one host.
  std::size_t per_host_max = 2;          ///< Requests to one host at once.
  std::size_t open_max = 32;             ///< Requests to all hosts at once.
};

/// Makes requests to one host wait for each other. Thread-safe.
class HostGate {
 public:
  /// Hosts remembered; idle ones past it are forgotten.
  static constexpr std::size_t kHostsMax = 4096;

  explicit HostGate(HostGateOptions options) : options_(options) {}

  /// A place at a host, given back at the end of its scope.
  class Pass {
   public:
    Pass(HostGate& gate, std::string host) : gate_(&gate), host_(std::move(host)) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), host_(std::move(other.host_)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->leave(host_);
    }

   private:
    HostGate* gate_;
    std::string host_;
  };

  /// Waits for a place at the host, and for its time. kCancelled, kDeadlineExceeded; also when its turn is past the deadline.
  Result<Pass> enter(const CallContext& call, const std::string& host, std::chrono::milliseconds delay_min = {});

  std::size_t host_count() const;

 private:
  struct Host {
    std::size_t open = 0;
    std::chrono::steady_clock::time_point next{};
  };
  void leave(const std::string& host);
  void forget_idle(std::chrono::steady_clock::time_point now) FOOTNOTE_TSA(requires_capability(mutex_));

  const HostGateOptions options_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Host> hosts_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t open_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote
