#include "retrieve/fuse.h"

#include <algorithm>

namespace footnote::retrieve {

std::vector<double> min_max(std::span<const double> values) {
  std::vector<double> out(values.begin(), values.end());
  if (out.empty()) return out;
  const auto [low, high] = std::ranges::minmax(values);
  for (double& value : out) {
    value = high > low ? (value - low) / (high - low) : (high > 0 ? 1.0 : 0.0);
  }
  return out;
}

std::vector<Candidate> merge(std::span<const ScoredChunk> vectors, std::span<const ScoredChunk> keywords) {
  std::vector<Candidate> out;
  out.reserve(vectors.size() + keywords.size());
  for (const ScoredChunk& found : vectors) out.push_back({.chunk = found.chunk, .cosine = found.score, .keyword = 0, .terms = {}});
  for (const ScoredChunk& found : keywords) out.push_back({.chunk = found.chunk, .cosine = 0, .keyword = found.score, .terms = {}});
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

void fuse(std::vector<Candidate>& candidates, const FusionWeights& weights) {
  std::vector<double> cosines, keywords;
  for (const Candidate& candidate : candidates) {
    cosines.push_back(candidate.cosine);
    keywords.push_back(candidate.keyword);
  }
  const std::vector<double> vector_part = min_max(cosines), keyword_part = min_max(keywords);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& candidate = candidates[i];
    candidate.terms = {{Stage::kVector, candidate.cosine, vector_part[i], weights.vector},
                       {Stage::kKeyword, candidate.keyword, keyword_part[i], weights.keyword}};
    candidate.score = 0;
    for (const StageScore& term : candidate.terms) candidate.score += term.contribution();
  }
  std::ranges::sort(candidates,
                    [](const Candidate& a, const Candidate& b) { return a.score != b.score ? a.score > b.score : a.chunk < b.chunk; });
}

}  // namespace footnote::retrieve
