#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace footnote {

/// Travels with every call that can wait: until when, whether the caller is still there, and
/// under which name the work is logged. Cheap to copy.
struct CallContext {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop;
  std::string trace_id;

  /// A context that ends after `timeout` and can't be cancelled.
  static CallContext with_timeout(std::chrono::milliseconds timeout) { return {std::chrono::steady_clock::now() + timeout, {}, {}}; }

  /// The same call, ending no later than `timeout` from now.
  CallContext narrowed(std::chrono::milliseconds timeout) const {
    CallContext out = *this;
    out.deadline = std::min(deadline, std::chrono::steady_clock::now() + timeout);
    return out;
  }

  /// kCancelled when the caller went away, kDeadlineExceeded when time ran out.
  Result<void> check() const {
    if (stop.stop_requested()) return fail(ErrorCode::kCancelled, "the caller went away");
    if (std::chrono::steady_clock::now() >= deadline) return fail(ErrorCode::kDeadlineExceeded, "the call's time ran out");
    return {};
  }
};

}  // namespace footnote
