#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/call_context.h"
#include "points/work.h"
#include "ports/point_store.h"

namespace footnote::points {

/// Memory that a point needs while an answer is built: its payload as text and as JSON, and its vectors as JSON numbers.
std::size_t held_bytes(const Point& point);

/// Read points for an answer, like the store's functions of the same name, but a few at a time: `work` ends the request (kTooLarge) before
/// the points exceed the memory limit of an answer.
Result<std::vector<Point>> read_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                       PointVectors vectors, Work& work);
Result<std::vector<Point>> read_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                       PointVectors vectors, Work& work);
Result<std::vector<Point>> scroll_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::optional<PointId> from,
                                         std::size_t limit, PointVectors vectors, Work& work);

}  // namespace footnote::points
