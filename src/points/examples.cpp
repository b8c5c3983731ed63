#include "points/examples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace footnote::points {

namespace {

/// Keeps pairs apart whose similarities are equal.
constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

double squashed(double x) { return x / (1 + std::abs(x)); }
/// From 0 to 1.
double sigmoid(double x) { return (1 + squashed(x)) / 2; }

void add_mean(std::vector<float>& sum, std::span<const std::vector<float>> vectors, float weight) {
  const float each = weight / static_cast<float>(vectors.size());
  for (const std::vector<float>& vector : vectors) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += each * vector[i];
  }
}

}  // namespace

double similarity_of(Distance distance, double score) {
  switch (distance) {
    case Distance::kCosine:
    case Distance::kDot: return score;
    case Distance::kEuclid: return -score * score;
    case Distance::kManhattan: return -std::abs(score);
  }
  return score;
}

double similarity_between(Distance distance, std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    switch (distance) {
      case Distance::kCosine:
      case Distance::kDot: sum += x * y; break;
      case Distance::kEuclid: sum -= (x - y) * (x - y); break;
      case Distance::kManhattan: sum -= std::abs(x - y); break;
    }
  }
  return sum;
}

double best_score(std::span<const double> positive, std::span<const double> negative) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const double best = positive.empty() ? kNone : std::ranges::max(positive);
  const double worst = negative.empty() ? kNone : std::ranges::max(negative);
  return best > worst ? sigmoid(best) : -sigmoid(worst);
}

double sum_score(std::span<const double> positive, std::span<const double> negative) {
  return std::accumulate(positive.begin(), positive.end(), 0.0) - std::accumulate(negative.begin(), negative.end(), 0.0);
}

double discovery_score(std::optional<double> target, std::span<const double> positive, std::span<const double> negative) {
  double score = 0;
  for (std::size_t i = 0; i < positive.size(); ++i) {
    if (target) {
      score += positive[i] > negative[i] ? 1 : positive[i] < negative[i] ? -1 : 0;
    } else {
      score += squashed(std::min(positive[i] - negative[i] - kEpsilon, 0.0));
    }
  }
  return target ? score + sigmoid(*target) : score;
}

std::vector<float> average_vector(std::span<const std::vector<float>> positive, std::span<const std::vector<float>> negative) {
  std::vector<float> out(positive.front().size(), 0);
  add_mean(out, positive, negative.empty() ? 1 : 2);
  if (!negative.empty()) add_mean(out, negative, -1);
  return out;
}

}  // namespace footnote::points
