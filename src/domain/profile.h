#pragma once

#include <cstddef>

namespace footnote {

/// Weight of each stage in the sum of normalised scores.
struct FusionWeights {
  double vector = 0.5;
  double keyword = 0.5;
  double heading = 0.0;
  double late = 0.5;
  double judge = 0.4;
};

/// How scores of different stages are made comparable. kScores: by their distance from the stage's mean for this question. kRanks: by rank
/// alone (reciprocal ranks).
enum class Fusion { kScores, kRanks };

/// Subtracted from a passage's score because its document is outdated.
struct StatusPenalties {
  double superseded = 0.40;
  double deprecated = 0.40;
  double archived = 0.60;
};

/// Decides whether a question is covered, from raw scores, never from normalised or boosted ones. A passage grounds an answer if its cosine
/// alone reaches `cosine_sure`, or if it reaches `cosine_min` and cosine and word coverage together reach `evidence_min` (see
/// retrieve/gate.h).
struct GatePolicy {
  double cosine_sure = 0.60;
  /// A passage that contains this share of the question's words needs only `cosine_min_worded` instead of `cosine_min`: error codes and
  /// part numbers mean little to an embedder.
  double coverage_sure = 0.85;
  double cosine_min_worded = 0.10;
  double cosine_min = 0.25;
  double evidence_min = 0.40;
  double coverage_weight = 0.40;
  /// A passage that the judge read grounds an answer if judge_raw + late_weight * max(late_raw, late_floor) >= judged_min. The floor keeps
  /// a question in other words than the passage's from being rejected.
  double late_weight = 80;
  double late_floor = 0.425;
  double judged_min = 33;
  /// Quotes are shown if the reader finds it at least this likely that they answer. Only readers that can tell.
  double read_min = 0.4;
};

/// The retrieval policy of one entry point. Plain data: entry points differ in these values, not in code.
struct Profile {
  std::size_t top_k = 8;             ///< Passages passed to the gate and the prompt.
  std::size_t recall = 100;          ///< Candidates of each retriever before fusion.
  std::size_t per_document_max = 3;  ///< Passages of one document among the top_k.
  std::size_t late = 100;            ///< How many of the best fused candidates get late interaction scores; the others are dropped.
  std::size_t judged = 18;           ///< How many of those the judge reads, if there is one; 0: none.
  FusionWeights weights;
  Fusion fusion = Fusion::kScores;
  StatusPenalties penalties;
  GatePolicy gate;
  bool vectors = true;    ///< False: the corpus's vectors are not the embedder's, so search by words only.
  double page_boost = 0;  ///< Added to the score of passages of the page the visitor is on.
  /// True: a failed stage is skipped and reported, down to a result without passages. False: the question fails with the stage.
  bool degrade_on_failure = false;
};

/// `ask`, `search`, `eval`: equal weights.
inline constexpr Profile kAskProfile{};

/// The knowledge base: initial weights of vector, keyword and heading.
inline constexpr Profile kKnowledgeBaseProfile{.weights = {.vector = 0.55, .keyword = 0.25, .heading = 0.05, .late = 0.5}};

/// Site visitors: the best 6 of 18 that the judge reads, with a boost for the page they are on.
inline constexpr Profile kVisitorProfile{.top_k = 6, .judged = 18, .page_boost = 0.15, .degrade_on_failure = true};

/// The same entry point if a model reads the passages itself (no language model): it compares more of them, from one document too, and no
/// judge orders them first. On documentation, quotes answer 72 % of the questions with and without the judge.
constexpr Profile for_reading(Profile profile) {
  profile.top_k = 10;
  profile.per_document_max = 10;
  profile.judged = 0;
  return profile;
}

/// The same entry point for a corpus without vectors of the embedder: search by words, gate by word coverage.
constexpr Profile by_words_alone(Profile profile) {
  profile.vectors = false;
  profile.gate.coverage_weight = 1;
  profile.gate.cosine_min = profile.gate.cosine_min_worded = 0;
  return profile;
}

}  // namespace footnote
