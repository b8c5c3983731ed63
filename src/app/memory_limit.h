#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace footnote::app {

/// Applies server.memory_max_mib to this process: beyond it, allocations fail in every thread. A request that hits the limit gets 503; a
/// document is skipped. Threads started later get smaller stacks. kFailedPrecondition: the system does not allow the limit.
Result<void> limit_memory(const Settings& settings);

}  // namespace footnote::app
