#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "domain/catalog.h"
#include "domain/point.h"

namespace footnote::points {

/// What a query compares points with: a vector, or a point, which is then excluded from the results.
using Example = std::variant<std::vector<float>, PointId>;

/// Points like the positive examples and unlike the negative ones.
struct Recommend {
  enum class Strategy {
    kAverageVector,  ///< Nearest to 2 * mean(positive) - mean(negative); without negative examples, to mean(positive).
    kBestScore,      ///< By the nearest example: its similarity s as (1 + s / (1 + |s|)) / 2, negated if that example is negative.
    kSumScores,      ///< The sum of similarities to positive examples minus that to negative ones.
  };
  std::vector<Example> positive;
  std::vector<Example> negative;
  Strategy strategy = Strategy::kAverageVector;
};

struct ContextPair {
  Example positive;
  Example negative;
};
/// Points on the positive side of the pairs; among them the nearest to the target, if there is one.
struct Discover {
  std::optional<Example> target;
  std::vector<ContextPair> context;
};

/// Maximal marginal relevance: of `candidates` nearest points, each next one is the best by (1 - diversity) * similarity to the query
/// - diversity * similarity to the nearest point chosen before.
struct Diversify {
  double diversity = 0.5;
  std::optional<std::size_t> candidates;  ///< Default: as many as are wanted.
};

/// The similarity that examples are compared by: cosine, dot product, -distance^2 (Euclid) or -distance (Manhattan).
double similarity_of(Distance distance, double score);
double similarity_between(Distance distance, std::span<const float> a, std::span<const float> b);

/// The scores of one candidate, from its similarities to the examples.
double best_score(std::span<const double> positive, std::span<const double> negative);
double sum_score(std::span<const double> positive, std::span<const double> negative);
/// `positive[i]` and `negative[i]` are a pair.
double discovery_score(std::optional<double> target, std::span<const double> positive, std::span<const double> negative);

/// At least one positive example; all vectors have the same length.
std::vector<float> average_vector(std::span<const std::vector<float>> positive, std::span<const std::vector<float>> negative);

/// The order of maximal marginal relevance: positions in `relevance`, at most `limit`. `between(i, j)` is the similarity of two candidates;
/// it is called less than limit * size times.
template <class Between>
std::vector<std::size_t> diversified(std::span<const double> relevance, double diversity, std::size_t limit, const Between& between) {
  std::vector<std::size_t> pending(relevance.size()), chosen;
  for (std::size_t i = 0; i < pending.size(); ++i) pending[i] = i;
  std::vector<double> nearest(relevance.size(), 0);  // similarity to the nearest chosen one
  while (!pending.empty() && chosen.size() < limit) {
    const auto value = [&](std::size_t i) {
      return chosen.empty() ? relevance[i] : (1 - diversity) * relevance[i] - diversity * nearest[i];
    };
    std::size_t best = 0;
    for (std::size_t at = 1; at < pending.size(); ++at) {
      if (value(pending[at]) >= value(pending[best])) best = at;
    }
    const std::size_t next = pending[best];
    pending[best] = pending.back();
    pending.pop_back();
    for (const std::size_t i : pending) {
      const double similarity = between(i, next);
      nearest[i] = chosen.empty() ? similarity : std::max(nearest[i], similarity);
    }
    chosen.push_back(next);
  }
  return chosen;
}

}  // namespace footnote::points
