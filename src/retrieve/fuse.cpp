#include "retrieve/fuse.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/assert.h"

namespace footnote::retrieve {

namespace {

/// The usual constant of reciprocal rank fusion.
constexpr double kRankOffset = 60;

/// The typical lowest and highest standard score among a hundred candidates.
constexpr double kTypicalLow = -2.4;
constexpr double kTypicalHigh = 3.6;

}  // namespace

std::vector<double> standardise(std::span<const double> values, double typical_variance) {
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / count;
  const double deviation = std::sqrt((count * variance + kTypicalScores * typical_variance) / (count + kTypicalScores));
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(deviation > 0 ? (value - mean) / deviation : 0);
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
    out.push_back({.chunk = found.chunk, .cosine = {}, .keyword = found.score, .late = {}, .terms = {}});
  std::ranges::sort(out, {}, &Candidate::chunk);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].chunk == out[i].chunk) {
      if (!out[kept - 1].cosine) out[kept - 1].cosine = out[i].cosine;
      out[kept - 1].keyword += out[i].keyword;
    } else {
      if (kept != i) out[kept] = out[i];
      ++kept;
    }
  }
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(kept), out.end());
  return out;
}

namespace {

/// One stage's scores for all candidates, normalised so that stages are comparable.
struct StageNumbers {
  Stage stage;
  double weight;
  std::vector<std::optional<double>> raw;
  std::vector<double> normal;
};

/// A candidate without a score gets the stage's mean, or with ranks the last place. A stage without any score is not added.
template <class NumberOf>
void add_numbers(std::vector<StageNumbers>& stages, const std::vector<Candidate>& candidates, Stage stage, double weight, Fusion fusion,
                 double typical_variance, const NumberOf& number_of) {
  if (weight == 0) return;
  StageNumbers out{stage, weight, {}, std::vector<double>(candidates.size(), 0.0)};
  std::vector<double> known;
  out.raw.reserve(candidates.size());
  known.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    const std::optional<double> number = number_of(candidate);
    out.raw.push_back(number);
    if (number) known.push_back(*number);
  }
  if (known.empty()) return;
  const std::vector<double> normal = fusion == Fusion::kScores ? standardise(known, typical_variance) : by_rank(known);
  for (std::size_t i = 0, next = 0; i < out.raw.size(); ++i) {
    if (out.raw[i]) out.normal[i] = normal[next++];
  }
  stages.push_back(std::move(out));
}

/// Maps all stages to 0..1 by the same linear function, which preserves the order; returns its slope.
double bring_to_unit(std::vector<StageNumbers>& stages, Fusion fusion) {
  double low = fusion == Fusion::kScores ? kTypicalLow : 0;
  double high = fusion == Fusion::kScores ? kTypicalHigh : 1;
  for (const StageNumbers& stage : stages) {
    for (const double value : stage.normal) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  for (StageNumbers& stage : stages) {
    for (double& value : stage.normal) value = (value - low) / (high - low);
  }
  return 1 / (high - low);
}

/// Best first, equal scores by chunk. Sorts small keys instead of whole candidates.
void sort_by_score(std::vector<Candidate>& candidates) {
  struct Key {
    double score;
    ChunkId chunk;
    std::size_t at;
  };
  std::vector<Key> keys;
  keys.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) keys.push_back({candidates[i].score, candidates[i].chunk, i});
  std::ranges::sort(keys, [](const Key& a, const Key& b) { return a.score != b.score ? a.score > b.score : a.chunk < b.chunk; });
  std::vector<Candidate> sorted;
  sorted.reserve(candidates.size());
  for (const Key& key : keys) sorted.push_back(candidates[key.at]);
  candidates = std::move(sorted);
}

}  // namespace

double fuse(std::vector<Candidate>& candidates, const FusionWeights& weights, Fusion fusion) {
  std::vector<StageNumbers> stages;
  add_numbers(stages, candidates, Stage::kVector, weights.vector, fusion, kCosineVariance,
              [](const Candidate& c) { return std::optional(c.cosine.value_or(0)); });
  add_numbers(stages, candidates, Stage::kKeyword, weights.keyword, fusion, kKeywordVariance,
              [](const Candidate& c) { return std::optional(c.keyword); });
  add_numbers(stages, candidates, Stage::kLate, weights.late, fusion, kLateVariance, [](const Candidate& c) { return c.late; });
  const double scale = bring_to_unit(stages, fusion);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].terms.clear();
    candidates[i].score = 0;
    for (const StageNumbers& stage : stages) {
      const StageScore term{stage.stage, stage.raw[i].value_or(0), stage.normal[i], stage.weight};
      candidates[i].terms.push_back(term);
      candidates[i].score += term.contribution();
    }
  }
  sort_by_score(candidates);
  return scale;
}

double log_odds(double probability) {
  const double least = 1 / (1 + std::exp(kLogOddsMax));
  const double limited = std::clamp(probability, least, 1 - least);
  return std::log(limited / (1 - limited));
}

std::vector<double> normalise_judged(std::span<const double> values, std::size_t count, Fusion fusion, double scale) {
  FOOTNOTE_ASSERT(values.size() <= count);
  std::vector<double> out = fusion == Fusion::kScores ? standardise(values, kJudgeVariance) : by_rank(values);
  out.resize(count, 0);
  const double low = out.empty() ? 0 : std::ranges::min(out);
  for (double& value : out) value = (value - low) * scale;
  return out;
}

}  // namespace footnote::retrieve
