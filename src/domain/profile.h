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
  double tags = 0.0;        ///< Times the share of the question's words among the document's tags.
  double priority = 0.001;  ///< Times a canonical document's retrieval_priority, 0..100: what people accepted comes before raw files.
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

/// Which signals of a passage are on a scale that the score model knows (retrieve/score_model.h). The other signals affect only the order
/// of passages.
struct KnownSignals {
  bool cosine = true;
  bool late = true;
  bool judge = true;
};

/// Maps a signal of another model to the scale of the built-in model: slope * value + offset.
struct SignalScale {
  double slope = 1;
  double offset = 0;

  bool operator==(const SignalScale&) const = default;
};

/// Decides whether a question is covered: the probability of its best passage must reach `probability_min`. The probability comes from raw
/// signals, never from normalised or boosted scores.
struct GatePolicy {
  KnownSignals known;
  SignalScale cosine;
  SignalScale judge;  ///< Scale of the judge's log odds.
  double probability_min = 0.5;
  bool calibrated = true;  ///< False: some model's scale is unknown, so probabilities use only the other signals.
  /// Minimum probability that the quotes answer the question; below it, refuse. Only for readers that return a probability.
  double read_min = 0.45;
};

/// The retrieval policy of one entry point. Plain data: entry points differ in these values, not in code.
struct Profile {
  std::size_t top_k = 8;             ///< Passages passed to the gate and the prompt.
  std::size_t recall = 100;          ///< Candidates of each retriever before fusion.
  std::size_t per_document_max = 3;  ///< Passages of one document among the top_k.
  std::size_t late = 100;            ///< How many of the best fused candidates get late interaction scores; the others are dropped.
  std::size_t judged = 14;           ///< How many of those the judge reads; 0: none, or no judge.
  FusionWeights weights;
  Fusion fusion = Fusion::kScores;
  StatusPenalties penalties;
  GatePolicy gate;
  bool vectors = true;         ///< False: the corpus's vectors were not made by the current embedder, so only keyword search works.
  bool model_changed = false;  ///< True: another embedder of ours made them; the corpus needs `rebuild-index`.
  double mention_boost = 0.5;  ///< Added to the score of passages of documents that the question names.
  double page_boost = 0;       ///< Added to the score of passages of the page the visitor is on.
  /// True: a failed stage is skipped and reported, down to a result without passages. False: the question fails with the stage.
  bool degrade_on_failure = false;
};

/// Profile of `ask`, `search` and `eval`: equal weights.
inline constexpr Profile kAskProfile{};

/// Profile of the knowledge base: the initial weights of vector, keyword and heading.
inline constexpr Profile kKnowledgeBaseProfile{.weights = {.vector = 0.55, .keyword = 0.25, .heading = 0.05, .late = 0.5, .tags = 0.05}};

/// Profile of site visitors: the best 6 of the passages that the judge reads, with a boost for the page they are on.
inline constexpr Profile kVisitorProfile{.top_k = 6, .page_boost = 0.15, .degrade_on_failure = true};

/// The profile when a reader model quotes the passages (no language model). It compares more passages, also several of one document. No
/// judge orders them first: measured on documentation, that gains nothing. Reading 14 passages instead of 10 answers 2 % more questions.
constexpr Profile for_reading(Profile profile) {
  profile.top_k = 14;
  profile.per_document_max = 14;
  profile.judged = 0;
  return profile;
}

/// The profile for a corpus without vectors of the current embedder: keyword search, gate by word coverage.
constexpr Profile by_words_alone(Profile profile) {
  profile.vectors = false;
  profile.gate.known.cosine = profile.gate.known.late = false;
  return profile;
}

}  // namespace footnote
