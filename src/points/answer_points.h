#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/call_context.h"
#include "points/work.h"
#include "ports/point_store.h"

namespace footnote::points {

/// The memory that a point takes in an answer: its payload as text and as JSON, and its vectors as JSON numbers.
std::size_t held_bytes(const Point& point);

/// These read points for an answer as the store's functions of the same kind do, but a few at a time: `work` ends them (kTooLarge) before
/// the points take more memory than an answer may.
Result<std::vector<Point>> read_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                       PointVectors vectors, Work& work);
Result<std::vector<Point>> read_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                       PointVectors vectors, Work& work);
Result<std::vector<Point>> scroll_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::optional<PointId> from,
                                         std::size_t limit, PointVectors vectors, Work& work);

}  // namespace footnote::points
