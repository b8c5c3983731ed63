#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "upkeep/stores.h"

namespace footnote::upkeep {

/// Why this process should get no new work now, for people; empty when it should. `free_bytes_min`: what the data folder's disk should
/// have left; 0: whatever it has.
std::vector<std::string> not_ready_reasons(Stores& stores, std::uint64_t free_bytes_min);

}  // namespace footnote::upkeep
