#include "engine/ann/exact_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.h"

namespace footnote::ann {
namespace {

Kernels::Floats kernel_for(const VectorSpace& space) {
  switch (space.metric) {
    case Metric::kDot: return space.kernels->dot;
    case Metric::kEuclid: return space.kernels->squared_distance;
    case Metric::kManhattan: return space.kernels->manhattan;
  }
  return space.kernels->dot;
}

}  // namespace

ExactScores::ExactScores(const VectorSpace& space, std::span<const float> query, DamageCount& damaged)
    : space_(space), kernel_(kernel_for(space)), damaged_(damaged), query_(space.stride) {
  FOOTNOTE_ASSERT(query.size() == space.dimension);
  std::copy(query.begin(), query.end(), query_.data());
}

float ExactScores::to_score(float measured) const {
  switch (space_.metric) {
    case Metric::kDot: return measured;
    case Metric::kEuclid: return 0.0F - std::sqrt(measured);  // never -0
    case Metric::kManhattan: return 0.0F - measured;
  }
  return measured;
}

float ExactScores::of_vector(const Segment& segment, std::size_t vector) const {
  float out = 0;
  if (segment.raw.is_sound(vector)) {
    kernel_(query_.data(), segment.raw.at(vector), space_.stride, 1, &out);
  } else {
    note_damage();
    AlignedFloats decoded(space_.stride);
    if (segment.codes.is_sound(vector)) segment.codes.decode(vector, {decoded.data(), space_.dimension});
    kernel_(query_.data(), decoded.data(), space_.stride, 1, &out);
  }
  return to_score(out);
}

float ExactScores::of_row(const Segment& segment, std::size_t row) const {
  float best = -std::numeric_limits<float>::infinity();
  for (std::size_t v = segment.first[row]; v < segment.first[row + 1]; ++v) best = std::max(best, of_vector(segment, v));
  return best;
}

void ExactScores::of_run(const Segment& segment, std::size_t first, std::size_t count, float* out) const {
  kernel_(query_.data(), segment.raw.at(first), space_.stride, count, out);
  if (space_.metric == Metric::kDot) return;
  std::transform(out, out + count, out, [this](float measured) { return to_score(measured); });
}

}  // namespace footnote::ann
