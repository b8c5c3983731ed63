#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace footnote::retrieve {

/// A candidate to pick. An empty vector has similarity 0 to all others.
struct MmrCandidate {
  double similarity = 0;  ///< To the question.
  std::span<const float> vector;
};

/// Maximal marginal relevance: picks up to `count` candidates one by one, each time the one that maximises
///   (1 - lambda) * similarity + lambda * (1 - its greatest cosine to one that was picked)
/// so lambda 0 means similarity only and lambda 1 diversity only. The first pick is the most similar. Ties go to the lower index. Returns
/// indexes into `candidates`, in picking order.
std::vector<std::size_t> pick_diverse(std::span<const MmrCandidate> candidates, std::size_t count, double lambda);

/// Cosine of two vectors; 0 if one has length 0 or their dimensions differ.
double cosine_of(std::span<const float> a, std::span<const float> b);

}  // namespace footnote::retrieve
