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
  std::optional<ScanPlan> plan = {};  ///< Instead of the one that choose_plan() takes: for tests and measurements.
  std::size_t effort = 0;             ///< Likewise of a walk; 0: as graph_effort() has it.
  HelperThreads* helpers = nullptr;   ///< Does half of the work of kSigns, where there is one. What is found is the same.
};

/// What the vectors of an index have in common.
struct VectorSpace {
  Metric metric = Metric::kDot;
  std::size_t dimension = 0;
  std::size_t stride = 0;  ///< The dimension, padded.
  const Kernels* kernels = nullptr;
};

/// A query's full numbers against those of single rows. Borrows what it is made of.
class ExactScores {
 public:
  ExactScores(const VectorSpace& space, std::span<const float> query, DamageCount& damaged);

  /// The best of a row's vectors. One whose numbers are damaged counts by its codes, and as zeros where those are damaged too.
  float of_row(const Segment& segment, std::size_t row) const;
  /// Of `count` vectors from `first` on. REQUIRES: the segment's numbers are in memory, in order.
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

/// Best first, equal scores by label. `graph` may be null. REQUIRES: the query has space.dimension numbers.
std::vector<rows::ScoredLabel> scan(const VectorSpace& space, std::span<const SegmentPtr> segments, const SegmentGraph* graph,
                                    const FlatQuery& query, DamageCount& damaged, ScanReport& report);

}  // namespace footnote::ann
