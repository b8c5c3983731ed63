#pragma once

#include <chrono>

#include "base/call_context.h"

namespace footnote {

/// Whether `call.check()` fails. Allocates nothing and does not throw, so callbacks of C libraries can use it.
inline bool has_ended(const CallContext& call) noexcept {
  return call.stop.stop_requested() || std::chrono::steady_clock::now() >= call.deadline;
}

}  // namespace footnote
