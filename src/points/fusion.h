#pragma once

#include <span>
#include <vector>

#include "ports/index.h"

namespace footnote::points {

/// How lists of several searches become one. Scores of the lists count up.
enum class Fusion {
  kRanks,          ///< Reciprocal ranks: the sum of 1 / (k + rank), the first rank being 0.
  kDistributions,  ///< Each list's scores brought to 0..1 between its mean less and plus three deviations; their sum.
};

inline constexpr double kRankConstantDefault = 2;

/// Best first, equal scores by chunk. `weights` is empty (all the same) or has one for each list.
std::vector<ScoredChunk> fuse(Fusion fusion, std::span<const std::vector<ScoredChunk>> lists, double rank_constant,
                              std::span<const double> weights);

}  // namespace footnote::points
