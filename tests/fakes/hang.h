#pragma once

#include "base/call_context.h"

namespace footnote::fakes {

/// Blocks until the call is cancelled (kCancelled) or its deadline passes (kDeadlineExceeded), like a peer that accepts a request and never
/// responds.
Error hang_until_stopped(const CallContext& call);

}  // namespace footnote::fakes
