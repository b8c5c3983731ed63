#pragma once

#include <cstddef>
#include <string_view>

namespace footnote::ann {

/// How a query and a vector are compared; higher scores are nearer. Cosine is kDot of vectors of length 1.
enum class Metric { kDot, kEuclid, kManhattan };

/// How a search reads the rows that it may find.
/// kFull: the full numbers of all.
/// kCodes: the 8-bit codes of all; then the full numbers of those that the codes can't rule out. Exact: a row is left out only
/// when its score by codes and what they can be off by lie below the last place.
/// kSigns: one bit a number of all; then kCodes among the first by that. Approximate.
/// kGraph: from neighbour to neighbour, by codes, toward the query; then kCodes among the nearest met, and of all that are in no graph.
/// Approximate.
enum class ScanPlan { kFull, kCodes, kSigns, kGraph };

/// "full", "codes", "signs", "graph".
std::string_view to_string(ScanPlan plan);

/// What a search did. Vectors, not rows: a row may have several.
struct ScanReport {
  ScanPlan plan = ScanPlan::kFull;
  std::size_t scanned = 0;   ///< Read in the first pass, or met on a walk.
  std::size_t compared = 0;  ///< Of those, by codes, in the second pass of kSigns and kGraph.
  std::size_t rescored = 0;  ///< By their full numbers.
};

/// What a plan is chosen by.
struct ScanTask {
  Metric metric = Metric::kDot;
  std::size_t visible = 0;  ///< Vectors that may be found.
  std::size_t held = 0;     ///< Vectors of the segments that these are in.
  std::size_t limit = 0;
  std::size_t in_graph = 0;          ///< Of those held, the ones that a graph covers; 0: there is none.
  std::size_t visible_in_graph = 0;  ///< Of those visible.
  std::size_t vectors_per_row = 1;   ///< Rounded up.
};

// Where one plan overtakes the next; measured with ann_bench, see docs/adr/0012-vector-index.md.
inline constexpr std::size_t kFullVectorsMax = 64;
inline constexpr std::size_t kSignVectorsMin = 50'000;
/// Signs are read of all vectors of a segment, codes of the visible alone, which are eight times as long.
inline constexpr std::size_t kSignShareMin = 8;

ScanPlan choose_plan(const ScanTask& task);

/// How many near ones a walk keeps.
std::size_t graph_effort(const ScanTask& task);
inline constexpr std::size_t kGraphEffortMin = 640;
inline constexpr std::size_t kGraphEffortPerResult = 8;
/// What a walk may visit before it is dearer than reading everything.
std::size_t graph_visits_max(const ScanTask& task);

/// How many of the first by signs are compared by codes.
inline constexpr std::size_t kSignCandidatesMin = 1000;
inline constexpr std::size_t kSignCandidatesPerResult = 14;
std::size_t sign_candidates(std::size_t limit);

}  // namespace footnote::ann
