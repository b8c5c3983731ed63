#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/trace_context.h"

namespace footnote {

/// Travels with every call that can wait: until when, whether the caller is still there, and
/// under which names the work is logged and traced. Cheap to copy.
struct CallContext {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop;
  TraceContext trace;      ///< Sent on to whom we call.
  std::string request_id;  ///< What the client calls this request; empty outside of one.

  /// A context that ends after `timeout` and can't be cancelled.
  static CallContext with_timeout(std::chrono::milliseconds timeout) {
    CallContext out;
    out.deadline = std::chrono::steady_clock::now() + timeout;
    return out;
  }

  /// For work that is done whether or not the caller is still there: the same names, a time of its own.
  CallContext detached(std::chrono::milliseconds timeout) const {
    CallContext out = with_timeout(timeout);
    out.trace = trace;
    out.request_id = request_id;
    return out;
  }

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
