#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/helper_threads.h"
#include "engine/ann/kernels.h"
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
  std::size_t effort = 0;             ///< Overrides graph_effort(), likewise; 0: no override.
  HelperThreads* helpers = nullptr;   ///< If set, run half the work of kSigns; results are the same.
};

/// What all vectors of an index have in common.
struct VectorSpace {
  Metric metric = Metric::kDot;
  std::size_t dimension = 0;
  std::size_t stride = 0;  ///< The dimension, padded.
  const Kernels* kernels = nullptr;
};

/// Exact scores of a query against full vectors. Borrows its arguments.
class ExactScores {
 public:
  ExactScores(const VectorSpace& space, std::span<const float> query, DamageCount& damaged);

  /// The best score of a row's vectors. A damaged vector is replaced by its codes, and by zeros if those are damaged too.
  float of_row(const Segment& segment, std::size_t row) const;
  /// Scores `count` vectors from `first` on. REQUIRES: the segment's full vectors are in memory, in order.
  void of_run(const Segment& segment, std::size_t first, std::size_t count, float* out) const;

  const float* query() const { return query_.data(); }
  void note_damage() const { damaged_.fetch_add(1, std::memory_order_relaxed); }

 private:
  float of_vector(const Segment& segment, std::size_t vector) const;
  float to_score(float measured) const;

  const VectorSpace& space_;
  Kernels::Floats kernel_;
  DamageCount& damaged_;
  AlignedFloats query_;
};

/// Best first; ties are ordered by label. `graph` may be null. REQUIRES: the query has space.dimension values.
std::vector<rows::ScoredLabel> scan(const VectorSpace& space, std::span<const SegmentPtr> segments, const SegmentGraph* graph,
                                    const FlatQuery& query, DamageCount& damaged, ScanReport& report);

}  // namespace footnote::ann
