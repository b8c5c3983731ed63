#pragma once

#include <cstddef>
#include <vector>

#include "base/helper_threads.h"
#include "engine/ann/exact_scores.h"
#include "engine/ann/guesses.h"
#include "engine/ann/scan_scope.h"

namespace footnote::ann {

/// The best `candidates` vectors by their sign bits, in the order of scopes and vectors. `helpers` may be null; results are the same.
/// REQUIRES: a scope at least; the metric is kDot or kEuclid.
std::vector<Guess> guess_by_signs(const VectorSpace& space, std::span<const float> query, const std::vector<ScanScope>& scopes,
                                  std::size_t candidates, HelperThreads* helpers);

}  // namespace footnote::ann
