#include "engine/ann/scan_plan.h"

#include <algorithm>
#include <limits>

namespace footnote::ann {

std::string_view to_string(ScanPlan plan) {
  switch (plan) {
    case ScanPlan::kFull: return "full";
    case ScanPlan::kCodes: return "codes";
    case ScanPlan::kSigns: return "signs";
  }
  return "unknown";
}

ScanPlan choose_plan(const ScanTask& task) {
  // Sums of magnitudes have no product that codes could stand for.
  if (task.metric == Metric::kManhattan) return ScanPlan::kFull;
  if (task.visible <= std::max(kFullVectorsMax, task.limit)) return ScanPlan::kFull;
  const bool dense = task.visible >= task.held / kSignShareMin;
  const bool worth_it = task.visible >= std::max(kSignVectorsMin, 4 * sign_candidates(task.limit));
  return dense && worth_it ? ScanPlan::kSigns : ScanPlan::kCodes;
}

std::size_t sign_candidates(std::size_t limit) {
  return std::max(kSignCandidatesMin,
                  std::min(limit, std::numeric_limits<std::size_t>::max() / kSignCandidatesPerResult) * kSignCandidatesPerResult);
}

}  // namespace footnote::ann
