#pragma once

#include "base/call_context.h"

namespace footnote::fakes {

/// Blocks until the call is stopped (kCancelled) or its time runs out (kDeadlineExceeded): how a peer behaves
/// that took the request and never answers.
Error hang_until_stopped(const CallContext& call);

}  // namespace footnote::fakes
