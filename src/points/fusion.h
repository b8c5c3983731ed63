#pragma once

#include <span>
#include <vector>

#include "ports/index.h"

namespace footnote::points {

/// How the lists of several searches are merged. In each list, higher scores are better.
enum class Fusion {
  kRanks,          ///< Reciprocal rank fusion: the sum of 1 / ((rank + 1) / weight + k - 1), with ranks from 0.
  kDistributions,  ///< The sum of each list's scores, scaled so that mean - 3 deviations is 0 and mean + 3 deviations is 1.
};

inline constexpr double kRankConstantDefault = 2;

/// Best first, equal scores by chunk. `weights` is empty (equal weights) or has one per list; kRanks alone uses it.
std::vector<ScoredChunk> fuse(Fusion fusion, std::span<const std::vector<ScoredChunk>> lists, double rank_constant,
                              std::span<const double> weights);

}  // namespace footnote::points
