#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/trace_context.h"

namespace footnote {

/// Passed to every call that can wait: its deadline, whether the caller has cancelled it, and the ids under which the work is logged and
/// traced. Cheap to copy.
struct CallContext {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::stop_token stop;
  TraceContext trace;      ///< Forwarded to the services that we call.
  std::string request_id;  ///< The client's id for this request; empty outside a request.

  /// A context that ends after `timeout` and can't be cancelled.
  static CallContext with_timeout(std::chrono::milliseconds timeout) {
    CallContext out;
    out.deadline = std::chrono::steady_clock::now() + timeout;
    return out;
  }

  /// For work that continues when the caller is gone: the same ids, its own timeout, no cancellation.
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

  /// kCancelled when the caller cancelled, kDeadlineExceeded when the deadline has passed.
  Result<void> check() const {
    if (stop.stop_requested()) return fail(ErrorCode::kCancelled, "the caller cancelled");
    if (std::chrono::steady_clock::now() >= deadline) return fail(ErrorCode::kDeadlineExceeded, "the deadline passed");
    return {};
  }
};

}  // namespace footnote
