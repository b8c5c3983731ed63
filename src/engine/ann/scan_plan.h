#pragma once

#include <cstddef>
#include <string_view>

namespace footnote::ann {

/// How a query and a vector are compared; higher scores are nearer. Cosine similarity is kDot of unit vectors.
enum class Metric { kDot, kEuclid, kManhattan };

/// How a search reads the visible rows.
/// kFull: full vectors of all rows.
/// kCodes: 8-bit codes of all rows, then full vectors of those that the codes can't rule out. Exact: a row is dropped only when its upper
/// bound, score by codes + quantisation error, is below the current top-k.
/// kSigns: one bit per dimension of all rows, then kCodes among the best of these. Approximate.
/// kGraph: a greedy walk by codes from neighbour to neighbour towards the query, then kCodes among the nearest nodes and all rows outside
/// the graph. Approximate.
enum class ScanPlan { kFull, kCodes, kSigns, kGraph };

/// "full", "codes", "signs", "graph".
std::string_view to_string(ScanPlan plan);

/// What a search did. It counts vectors, not rows: a row may have several.
struct ScanReport {
  ScanPlan plan = ScanPlan::kFull;
  std::size_t scanned = 0;   ///< Read in the first pass, or visited on a walk.
  std::size_t compared = 0;  ///< Compared by codes in the second pass of kSigns and kGraph.
  std::size_t rescored = 0;  ///< Scored by their full vectors.
};

/// The input of choose_plan().
struct ScanTask {
  Metric metric = Metric::kDot;
  std::size_t visible = 0;  ///< Vectors that pass the filter.
  std::size_t held = 0;     ///< All vectors in the segments of the visible ones.
  std::size_t limit = 0;
  std::size_t in_graph = 0;          ///< How many of the held vectors a graph covers; 0: no graph.
  std::size_t visible_in_graph = 0;  ///< How many of the visible vectors a graph covers.
  std::size_t vectors_per_row = 1;   ///< Rounded up.
};

// The sizes at which one plan becomes faster than the next, measured with ann_bench; see docs/adr/0012-vector-index.md.
inline constexpr std::size_t kFullVectorsMax = 64;
inline constexpr std::size_t kSignVectorsMin = 50'000;
/// A scan by signs reads all vectors of a segment, a scan by codes only the visible ones. But codes are eight times as long.
inline constexpr std::size_t kSignShareMin = 8;

ScanPlan choose_plan(const ScanTask& task);

/// The number of nearest candidates that a walk keeps.
std::size_t graph_effort(const ScanTask& task);
inline constexpr std::size_t kGraphEffortMin = 640;
inline constexpr std::size_t kGraphEffortPerResult = 8;
/// The number of visits at which a walk costs more than a scan.
std::size_t graph_visits_max(const ScanTask& task);

/// How many of the best vectors by signs are compared by codes.
inline constexpr std::size_t kSignCandidatesMin = 1000;
inline constexpr std::size_t kSignCandidatesPerResult = 14;
std::size_t sign_candidates(std::size_t limit);

}  // namespace footnote::ann
