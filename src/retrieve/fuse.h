#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/profile.h"
#include "domain/retrieval.h"
#include "ports/index.h"

namespace footnote::retrieve {

/// A chunk that either side of recall named, with what is known of it before its text is fetched.
struct Candidate {
  ChunkId chunk;
  double cosine = 0;
  double keyword = 0;  ///< BM25; 0 where the keyword side did not name it.
  std::vector<StageScore> terms;
  double score = 0;
};

/// Brings numbers to 0..1 by the smallest and largest of them. All equal: 1 each when they are above 0, else 0.
std::vector<double> min_max(std::span<const double> values);

/// The union of both lists in chunk order, each once.
std::vector<Candidate> merge(std::span<const ScoredChunk> vectors, std::span<const ScoredChunk> keywords);

/// Scores every candidate as the weighted sum of its normalised stages and sorts best first, equal scores by
/// chunk. Scores beat ranks here: a rank forgets by how much a passage won.
void fuse(std::vector<Candidate>& candidates, const FusionWeights& weights);

}  // namespace footnote::retrieve
