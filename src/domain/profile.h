#pragma once

#include <cstddef>

namespace footnote {

/// What one stage weighs in the sum of normalised scores.
struct FusionWeights {
  double vector = 0.5;
  double keyword = 0.5;
  double heading = 0.0;
  double late = 0.5;
  double judge = 0.4;
};

/// How the stages' numbers become comparable. kScores: by how far each lies from the mean of its stage for this question.
/// kRanks: by their places alone (reciprocal ranks).
enum class Fusion { kScores, kRanks };

/// What is taken off a passage's score because its document is no longer the word of the house.
struct StatusPenalties {
  double superseded = 0.40;
  double deprecated = 0.40;
  double archived = 0.60;
};

/// When a question counts as covered: read from raw numbers, never from normalised or boosted ones. A passage
/// grounds an answer when its cosine alone reaches `cosine_sure`, or when it reaches `cosine_min` and its
/// cosine and word coverage together reach `evidence_min` (see retrieve/gate.h).
struct GatePolicy {
  double cosine_sure = 0.60;
  /// A passage that holds so many of the question's words needs only `cosine_min_worded` in place of `cosine_min`: error
  /// codes and part numbers mean little to an embedder.
  double coverage_sure = 0.85;
  double cosine_min_worded = 0.10;
  double cosine_min = 0.25;
  double evidence_min = 0.40;
  double coverage_weight = 0.40;
  /// A passage that the judge read grounds an answer when the judge's raw relevance and `late_weight` times its raw late score together
  /// reach `judged_min`. The late score counts for no less than `late_floor`: who asks in other words than the passage's is heard too.
  double late_weight = 80;
  double late_floor = 0.425;
  double judged_min = 33;
};

/// The policy of one front door. Plain data: front doors differ by what they put here, not by code.
struct Profile {
  std::size_t top_k = 8;             ///< Passages that go on to the gate and the prompt.
  std::size_t recall = 100;          ///< Candidates of each side before fusion.
  std::size_t per_document_max = 3;  ///< Passages of one document among the top_k.
  std::size_t late = 100;            ///< Of the fused candidates the best, whose tokens are compared with the question's; no others go on.
  std::size_t judged = 18;           ///< Of those the best, which the judge reads where there is one; 0: it is not asked.
  FusionWeights weights;
  Fusion fusion = Fusion::kScores;
  StatusPenalties penalties;
  GatePolicy gate;
  bool vectors = true;    ///< False: the corpus's vectors are none of the embedder's, so words alone are looked for.
  double page_boost = 0;  ///< Added to the score of passages of the page that the visitor is on.
  /// True: a failed stage is skipped and reported, down to a result without passages. False: the question fails with the stage.
  bool degrade_on_failure = false;
};

/// `ask`, `search`, `eval`: equal weights.
inline constexpr Profile kAskProfile{};

/// The knowledge base: seed weights of vector, keyword and heading.
inline constexpr Profile kKnowledgeBaseProfile{.weights = {.vector = 0.55, .keyword = 0.25, .heading = 0.05, .late = 0.5}};

/// A site's visitors: the best 6 of 18 that the judge reads, and the page that they are on.
inline constexpr Profile kVisitorProfile{.top_k = 6, .judged = 18, .page_boost = 0.15, .degrade_on_failure = true};

/// The same front door for a corpus that has no vectors of the embedder: found by words, and grounded by the share of them.
constexpr Profile by_words_alone(Profile profile) {
  profile.vectors = false;
  profile.gate.coverage_weight = 1;
  profile.gate.cosine_min = profile.gate.cosine_min_worded = 0;
  return profile;
}

}  // namespace footnote
