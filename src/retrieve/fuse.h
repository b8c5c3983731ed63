#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/profile.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote::retrieve {

/// The stage scores used by fusion. Stored inline, because there are few per candidate and many candidates.
class FusedTerms {
 public:
  static constexpr std::size_t kMax = 3;

  /// REQUIRES: there are fewer than kMax.
  void push_back(const StageScore& term) { terms_.at(size_++) = term; }
  void clear() { size_ = 0; }
  const StageScore* begin() const { return terms_.data(); }
  const StageScore* end() const { return begin() + size_; }
  const StageScore& operator[](std::size_t i) const { return terms_.at(i); }

 private:
  std::array<StageScore, kMax> terms_;
  std::size_t size_ = 0;
};

/// A chunk found by vector or keyword recall, with what is known before its text is fetched.
struct Candidate {
  ChunkId chunk;
  std::optional<double> cosine;  ///< nullopt if vector search did not find it.
  double keyword = 0;            ///< BM25; 0 if keyword search did not find it.
  std::optional<double> late;    ///< Late-interaction score; nullopt if it was not computed.
  FusedTerms terms;
  double score = 0;
};

/// Typical variance of a stage's scores within one question: the median over the development sets (docs/adr/0027-one-scale.md).
inline constexpr double kCosineVariance = 0.012;
inline constexpr double kKeywordVariance = 2;
inline constexpr double kLateVariance = 0.004;
/// Typical variance of the judge's log odds.
inline constexpr double kJudgeVariance = 1.2;
/// The typical variance is weighted like this many scores of the question.
inline constexpr double kTypicalScores = 50;

/// Standard scores (z-scores) of one stage, so that stages are comparable. The variance is a mean of the question's own and the typical one
/// (shrinkage), so that a question with few scores does not exaggerate small differences. If all scores are equal, each is 0.
std::vector<double> standardise(std::span<const double> values, double typical_variance);
/// 1 / (60 + rank), scaled to at most 1; equal numbers share the better rank.
std::vector<double> by_rank(std::span<const double> values);

/// The union of both lists in chunk order, without duplicates.
std::vector<Candidate> merge(std::span<const ScoredChunk> vectors, std::span<const ScoredChunk> keywords);

/// Scores every candidate by the weighted sum of its stages and sorts them, best first, equal scores by chunk. All stages are normalised to
/// 0..1 by the same linear map, which covers at least the range of a hundred typical candidates; so a boost or a penalty has the same
/// effect whether there are few candidates or many. Scores work better than ranks, which lose the margins. Returns the scale: the
/// normalised size of one standard deviation (for ranks: of 1).
double fuse(std::vector<Candidate>& candidates, const FusionWeights& weights, Fusion fusion = Fusion::kScores);

/// ln(p / (1 - p)) of a judge's probability, limited to +-kLogOddsMax. Makes rerankers with different scales comparable.
double log_odds(double probability);
inline constexpr double kLogOddsMax = 12;

/// Normalises the judge's log odds to the scale of an earlier fusion. The judge saw only the first candidates of `count`; the others get
/// its mean, or the last place if fusing by ranks. REQUIRES: values.size() <= count.
std::vector<double> normalise_judged(std::span<const double> values, std::size_t count, Fusion fusion, double scale);

}  // namespace footnote::retrieve
