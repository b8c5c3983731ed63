#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace footnote::retrieve {

/// One that may be picked. An empty vector is like no other.
struct MmrCandidate {
  double similarity = 0;  ///< To the question.
  std::span<const float> vector;
};

/// Maximal marginal relevance: picks up to `count`, one after the other, each time the one with the greatest
///   (1 - lambda) * similarity + lambda * (1 - its greatest cosine to one that was picked)
/// so that lambda 0 goes by similarity alone and 1 by difference alone. The first pick is the most similar. Equal ones go by their
/// place. Gives places in `candidates`, in the order of picking.
std::vector<std::size_t> pick_diverse(std::span<const MmrCandidate> candidates, std::size_t count, double lambda);

/// Of two vectors; 0 where they have no direction or differ in length.
double cosine_of(std::span<const float> a, std::span<const float> b);

}  // namespace footnote::retrieve
