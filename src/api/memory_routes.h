#pragma once

#include <vector>

#include "api/route.h"
#include "points/memories.h"

namespace footnote::api {

/// POST /api/memories, POST /api/memories/search, DELETE /api/memories/{id}: agents' notes. See docs/memory.md. `memories` is borrowed.
std::vector<Route> make_memory_routes(points::Memories& memories, const Clock& clock);

}  // namespace footnote::api
