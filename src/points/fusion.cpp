#include "points/fusion.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace footnote::points {

namespace {

constexpr double kDeviations = 3;
/// The normalised score if all scores of a list are equal.
constexpr double kMiddle = 0.5;

/// Maps the scores of one list so that mean - 3 deviations is 0 and mean + 3 deviations is 1.
std::vector<double> normalised(const std::vector<ScoredChunk>& list) {
  const auto count = static_cast<double>(list.size());
  double mean = 0;
  for (const ScoredChunk& entry : list) mean += entry.score / count;
  double squares = 0;
  for (const ScoredChunk& entry : list) squares += (entry.score - mean) * (entry.score - mean);
  const double deviation = list.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  std::vector<double> out;
  for (const ScoredChunk& entry : list) {
    out.push_back(deviation > 0 ? kMiddle + (entry.score - mean) / (2 * kDeviations * deviation) : kMiddle);
  }
  return out;
}

/// A list of weight w counts as if its ranks were w times closer together.
std::vector<double> reciprocal(std::size_t count, double constant, double weight) {
  std::vector<double> out(count, 0);
  for (std::size_t rank = 0; rank < count && weight > 0; ++rank) {
    out[rank] = 1 / ((static_cast<double>(rank) + 1) / weight + constant - 1);
  }
  return out;
}

}  // namespace

std::vector<ScoredChunk> fuse(Fusion fusion, std::span<const std::vector<ScoredChunk>> lists, double rank_constant,
                              std::span<const double> weights) {
  std::map<ChunkId, double> sums;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    const std::vector<double> parts = fusion == Fusion::kRanks ? reciprocal(lists[i].size(), rank_constant, weight) : normalised(lists[i]);
    for (std::size_t j = 0; j < parts.size(); ++j) sums[lists[i][j].chunk] += parts[j];
  }
  std::vector<ScoredChunk> out;
  for (const auto& [chunk, score] : sums) out.push_back({chunk, score});
  std::ranges::stable_sort(out, std::ranges::greater{}, &ScoredChunk::score);
  return out;
}

}  // namespace footnote::points
