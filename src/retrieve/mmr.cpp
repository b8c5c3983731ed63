#include "retrieve/mmr.h"

#include <algorithm>
#include <cmath>

namespace footnote::retrieve {

double cosine_of(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return 0;
  double dot = 0;
  double length_a = 0;
  double length_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    length_a += static_cast<double>(a[i]) * a[i];
    length_b += static_cast<double>(b[i]) * b[i];
  }
  const double lengths = std::sqrt(length_a) * std::sqrt(length_b);
  return lengths > 0 ? dot / lengths : 0;
}

std::vector<std::size_t> pick_diverse(std::span<const MmrCandidate> candidates, std::size_t count, double lambda) {
  std::vector<std::size_t> picked;
  std::vector<double> nearest(candidates.size(), 0);  // greatest similarity to a picked one
  std::vector<bool> taken(candidates.size(), false);
  while (picked.size() < std::min(count, candidates.size())) {
    std::size_t best = candidates.size();
    double best_score = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (taken[i]) continue;
      const double similarity = candidates[i].similarity;
      const double score = picked.empty() ? similarity : (1 - lambda) * similarity + lambda * (1 - nearest[i]);
      if (best == candidates.size() || score > best_score) {
        best = i;
        best_score = score;
      }
    }
    taken[best] = true;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (taken[i]) continue;
      const double cosine = cosine_of(candidates[i].vector, candidates[best].vector);
      nearest[i] = picked.empty() ? cosine : std::max(nearest[i], cosine);
    }
    picked.push_back(best);
  }
  return picked;
}

}  // namespace footnote::retrieve
