#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/helper_threads.h"
#include "engine/ann/exact_scores.h"
#include "engine/ann/scan_plan.h"
#include "engine/ann/segment.h"
#include "engine/ann/segment_graph.h"
#include "engine/rows/top_k.h"

namespace footnote::ann {

struct FlatQuery {
  std::span<const float> vector;
  std::int64_t generation = 0;
  std::size_t limit = 10;
  rows::RowFilter filter = {};
  std::optional<ScanPlan> plan = {};  ///< Overrides choose_plan(), for tests and benchmarks.
  std::size_t effort = 0;             ///< Overrides graph_effort(), for tests and benchmarks; 0: no override.
  HelperThreads* helpers = nullptr;   ///< If set, these threads do half the work of kSigns; results are the same.
};

/// Best first; ties are ordered by label. `graph` may be null. REQUIRES: the query has space.dimension values.
std::vector<rows::ScoredLabel> scan(const VectorSpace& space, std::span<const SegmentPtr> segments, const SegmentGraph* graph,
                                    const FlatQuery& query, DamageCount& damaged, ScanReport& report);

}  // namespace footnote::ann
