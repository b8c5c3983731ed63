#pragma once

#include <chrono>

#include "base/call_context.h"

namespace footnote {

/// Whether `call.check()` fails. For callbacks of C libraries, which no exception may pass: it allocates nothing.
inline bool has_ended(const CallContext& call) noexcept {
  return call.stop.stop_requested() || std::chrono::steady_clock::now() >= call.deadline;
}

}  // namespace footnote
