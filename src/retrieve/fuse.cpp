#include "retrieve/fuse.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace footnote::retrieve {

namespace {

/// So many standard deviations make up the whole scale: nearly all numbers of a stage then lie within 0..1.
constexpr double kScaleDeviations = 6;
/// The customary damping of reciprocal ranks.
constexpr double kRankOffset = 60;

}  // namespace

std::vector<double> standardise(std::span<const double> values) {
  std::vector<double> out(values.begin(), values.end());
  if (out.empty()) return out;
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / static_cast<double>(values.size());
  const double unit = kScaleDeviations * std::sqrt(variance);
  for (double& value : out) value = 0.5 + (unit > 0 ? (value - mean) / unit : 0);
  return out;
}

std::vector<double> by_rank(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted, std::greater{});
  std::vector<double> out;
  for (const double value : values) {
    const auto place = static_cast<double>(std::ranges::lower_bound(sorted, value, std::greater{}) - sorted.begin());
    out.push_back((kRankOffset + 1) / (kRankOffset + 1 + place));
  }
  return out;
}

std::vector<Candidate> merge(std::span<const ScoredChunk> vectors, std::span<const ScoredChunk> keywords) {
  std::vector<Candidate> out;
  out.reserve(vectors.size() + keywords.size());
  for (const ScoredChunk& found : vectors)
    out.push_back({.chunk = found.chunk, .cosine = found.score, .keyword = 0, .late = {}, .terms = {}});
  for (const ScoredChunk& found : keywords)
    out.push_back({.chunk = found.chunk, .cosine = 0, .keyword = found.score, .late = {}, .terms = {}});
  std::ranges::sort(out, {}, &Candidate::chunk);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].chunk == out[i].chunk) {
      out[kept - 1].cosine += out[i].cosine;
      out[kept - 1].keyword += out[i].keyword;
    } else {
      if (kept != i) out[kept] = std::move(out[i]);
      ++kept;
    }
  }
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(kept), out.end());
  return out;
}

namespace {

/// Adds one stage's term to every candidate. Where a stage has no number for one it counts as its mean.
template <class NumberOf>
void add_stage(std::vector<Candidate>& candidates, Stage stage, double weight, Fusion fusion, const NumberOf& number_of) {
  std::vector<double> known;
  for (const Candidate& candidate : candidates) {
    if (const std::optional<double> number = number_of(candidate)) known.push_back(*number);
  }
  if (known.empty() || weight == 0) return;
  const std::vector<double> normal = fusion == Fusion::kScores ? standardise(known) : by_rank(known);
  std::size_t next = 0;
  for (Candidate& candidate : candidates) {
    const std::optional<double> number = number_of(candidate);
    const StageScore term{stage, number.value_or(0), number ? normal[next++] : 0.5, weight};
    candidate.terms.push_back(term);
    candidate.score += term.contribution();
  }
}

}  // namespace

void fuse(std::vector<Candidate>& candidates, const FusionWeights& weights, Fusion fusion) {
  for (Candidate& candidate : candidates) {
    candidate.terms.clear();
    candidate.score = 0;
  }
  add_stage(candidates, Stage::kVector, weights.vector, fusion, [](const Candidate& c) { return std::optional(c.cosine); });
  add_stage(candidates, Stage::kKeyword, weights.keyword, fusion, [](const Candidate& c) { return std::optional(c.keyword); });
  add_stage(candidates, Stage::kLate, weights.late, fusion, [](const Candidate& c) { return c.late; });
  std::ranges::sort(candidates,
                    [](const Candidate& a, const Candidate& b) { return a.score != b.score ? a.score > b.score : a.chunk < b.chunk; });
}

}  // namespace footnote::retrieve
