#include "engine/ann/scan_plan.h"

#include <algorithm>
#include <limits>

namespace footnote::ann {
namespace {

// Nanoseconds, measured with ann_bench; see docs/adr/0018-graph.md. Only their ratios matter.
constexpr double kSignTime = 8;         // Signs of one vector, from memory.
constexpr double kCodeTime = 25;        // Codes of one vector, sequentially.
constexpr double kCandidateTime = 300;  // One candidate of the sign pass.
constexpr double kVisitTime = 150;      // Codes of one vector at random, and its links.
/// Nodes visited per candidate kept.
constexpr double kVisitsPerEffort = 16;

double scan_time(const ScanTask& task, ScanPlan plan) {
  if (plan == ScanPlan::kCodes) return kCodeTime * static_cast<double>(task.visible);
  return kSignTime * static_cast<double>(task.held) + kCandidateTime * static_cast<double>(sign_candidates(task.limit));
}

/// The cost of scanning the rows outside the graph.
double rest_time(const ScanTask& task) { return kCodeTime * static_cast<double>(task.visible - task.visible_in_graph); }

/// A walk also visits nodes that the filter hides.
double walk_time(const ScanTask& task) {
  const double share = static_cast<double>(task.visible_in_graph) / static_cast<double>(task.in_graph);
  return kVisitTime * kVisitsPerEffort * static_cast<double>(graph_effort(task)) / share;
}

ScanPlan choose_scan(const ScanTask& task) {
  const bool dense = task.visible >= task.held / kSignShareMin;
  const bool worth_it = task.visible >= std::max(kSignVectorsMin, 4 * sign_candidates(task.limit));
  return dense && worth_it ? ScanPlan::kSigns : ScanPlan::kCodes;
}

}  // namespace

std::string_view to_string(ScanPlan plan) {
  switch (plan) {
    case ScanPlan::kFull: return "full";
    case ScanPlan::kCodes: return "codes";
    case ScanPlan::kSigns: return "signs";
    case ScanPlan::kGraph: return "graph";
  }
  return "unknown";
}

ScanPlan choose_plan(const ScanTask& task) {
  // Manhattan distance is not a dot product, so codes can't bound it.
  if (task.metric == Metric::kManhattan) return ScanPlan::kFull;
  if (task.visible <= std::max(kFullVectorsMax, task.limit)) return ScanPlan::kFull;
  const ScanPlan scan = choose_scan(task);
  if (task.visible_in_graph == 0) return scan;
  return walk_time(task) + rest_time(task) < scan_time(task, scan) ? ScanPlan::kGraph : scan;
}

std::size_t graph_effort(const ScanTask& task) {
  const std::size_t wanted = std::min(task.limit, task.in_graph) * kGraphEffortPerResult * task.vectors_per_row;
  return std::max(kGraphEffortMin, wanted);
}

std::size_t graph_visits_max(const ScanTask& task) { return static_cast<std::size_t>(scan_time(task, choose_scan(task)) / kVisitTime); }

std::size_t sign_candidates(std::size_t limit) {
  return std::max(kSignCandidatesMin,
                  std::min(limit, std::numeric_limits<std::size_t>::max() / kSignCandidatesPerResult) * kSignCandidatesPerResult);
}

}  // namespace footnote::ann
