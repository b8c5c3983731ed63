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
  std::optional<double> cosine;  ///< None if vector search did not find it.
  double keyword = 0;            ///< BM25; 0 if keyword search did not find it.
  std::optional<double> late;    ///< Late-interaction score; none if it was not computed.
  FusedTerms terms;
  double score = 0;
};

/// What a stage's scores of one question typically vary by, from the range of the medians over the development sets
/// (docs/adr/0027-one-scale.md).
inline constexpr double kCosineVariance = 0.012;
inline constexpr double kKeywordVariance = 2;
inline constexpr double kLateVariance = 0.004;
/// Of the judge's probabilities, as log odds.
inline constexpr double kJudgeVariance = 1.2;
/// The typical variance counts as much as this many scores of the question.
inline constexpr double kTypicalScores = 50;

/// Standard scores (z-scores) of one stage, so that stages are comparable. The variance is the question's own, shrunk towards the typical
/// one: a few scores lie apart by what they typically differ, not by a multiple of their own spread. All equal: 0 each.
std::vector<double> standardise(std::span<const double> values, double typical_variance);
/// Ranks as 1 / (60 + rank), scaled to at most 1; equal numbers share the better rank.
std::vector<double> by_rank(std::span<const double> values);

/// The union of both lists in chunk order, without duplicates.
std::vector<Candidate> merge(std::span<const ScoredChunk> vectors, std::span<const ScoredChunk> keywords);

/// Scores every candidate by the weighted sum of its stages, all normalised to 0..1 by the same linear map, and sorts best first, equal
/// scores by chunk. The map covers at least the range that a hundred candidates typically have, so a boost or a penalty means the same for
/// two candidates. Scores work better here than ranks, which lose the margins. Returns the scale: the normalised size of one standard
/// deviation (for ranks: of 1).
double fuse(std::vector<Candidate>& candidates, const FusionWeights& weights, Fusion fusion = Fusion::kScores);

/// ln(p / (1 - p)) of a judge's probability, limited to +-kLogOddsMax: rerankers of every scale become comparable by it.
double log_odds(double probability);
inline constexpr double kLogOddsMax = 12;

/// Normalises the judge's log odds to the scale of an earlier fusion. The judge saw only the first of `count` candidates; the others get
/// its mean, or with ranks the last place. REQUIRES: values.size() <= count.
std::vector<double> normalise_judged(std::span<const double> values, std::size_t count, Fusion fusion, double scale);

}  // namespace footnote::retrieve
