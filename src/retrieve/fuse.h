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

/// What the stages gave that fusion knows. They are few, and candidates are many: their numbers lie in the candidate itself.
class FusedTerms {
 public:
  static constexpr std::size_t kMax = 3;

  /// REQUIRES: fewer than kMax are there.
  void push_back(const StageScore& term) { terms_.at(size_++) = term; }
  void clear() { size_ = 0; }
  const StageScore* begin() const { return terms_.data(); }
  const StageScore* end() const { return begin() + size_; }
  const StageScore& operator[](std::size_t i) const { return terms_.at(i); }

 private:
  std::array<StageScore, kMax> terms_;
  std::size_t size_ = 0;
};

/// A chunk that either side of recall named, with what is known of it before its text is fetched.
struct Candidate {
  ChunkId chunk;
  std::optional<double> cosine;  ///< None where the vector side did not name it.
  double keyword = 0;            ///< BM25; 0 where the keyword side did not name it.
  std::optional<double> late;    ///< Late interaction; none where the candidate was not compared.
  FusedTerms terms;
  double score = 0;
};

/// Numbers of one stage as their distance from its mean, in standard deviations: so stages are alike. All equal: 0 each.
std::vector<double> standardise(std::span<const double> values);
/// Numbers as 1 / (60 + place), scaled to at most 1; equal numbers share the better place.
std::vector<double> by_rank(std::span<const double> values);

/// The union of both lists in chunk order, each once.
std::vector<Candidate> merge(std::span<const ScoredChunk> vectors, std::span<const ScoredChunk> keywords);

/// Scores every candidate as the weighted sum of its normalised stages, each within 0..1 (the same for all of a question), and sorts best
/// first, equal scores by chunk. Scores beat ranks here: a rank forgets by how much a passage won. The result is the scale: what one
/// standard deviation (among ranks: 1) became in a normalised number.
double fuse(std::vector<Candidate>& candidates, const FusionWeights& weights, Fusion fusion = Fusion::kScores);

/// A further stage on the scale of a fusion before it, which saw only the first of `count` candidates: the others count as its mean, among
/// ranks as the last. REQUIRES: values.size() <= count.
std::vector<double> normalise_further(std::span<const double> values, std::size_t count, Fusion fusion, double scale);

}  // namespace footnote::retrieve
