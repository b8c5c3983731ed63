#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace footnote::app {

/// Applies server.memory_max_mib to this process: past it, allocations fail, in every thread. A request that this ends gets 503, a document
/// is left out. Threads started later get smaller stacks. kFailedPrecondition: the system allows no such limit.
Result<void> limit_memory(const Settings& settings);

}  // namespace footnote::app
