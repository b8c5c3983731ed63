#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "upkeep/stores.h"

namespace footnote::upkeep {

/// Human-readable reasons why this process should get no new work now; empty if it is ready. `free_bytes_min`: minimum free space on the
/// data folder's disk; 0: no minimum.
std::vector<std::string> not_ready_reasons(Stores& stores, std::uint64_t free_bytes_min);

}  // namespace footnote::upkeep
