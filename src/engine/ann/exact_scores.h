#pragma once

#include <span>

#include "engine/ann/kernels.h"
#include "engine/ann/scan_plan.h"
#include "engine/ann/segment.h"

namespace footnote::ann {

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

  void note_damage() const { damaged_.fetch_add(1, std::memory_order_relaxed); }

 private:
  float of_vector(const Segment& segment, std::size_t vector) const;
  float to_score(float measured) const;

  const VectorSpace& space_;
  Kernels::Floats kernel_;
  DamageCount& damaged_;
  AlignedFloats query_;
};

}  // namespace footnote::ann
