#pragma once

#include "base/result.h"
#include "config/settings.h"

namespace footnote::app {

/// Applies server.memory_max_mib to this process: past it, allocations fail. They do so in every thread, so the limit is meant for what is
/// much larger than a request: documents. kFailedPrecondition: the system allows no such limit.
Result<void> limit_memory(const Settings& settings);

}  // namespace footnote::app
