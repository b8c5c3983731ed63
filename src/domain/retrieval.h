#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/catalog.h"
#include "domain/document.h"
#include "domain/ids.h"

namespace footnote {

/// Narrows a search to passages that meet every filled condition. An empty filter lets all through.
struct Filter {
  std::vector<DocumentId> documents;
  std::vector<std::string> keys;
  std::vector<std::string> tags;  ///< Any of these.
  std::vector<std::string> media_types;
  std::vector<std::string> languages;
  std::vector<std::string> canonical_types;
  std::vector<DocumentStatus> statuses;
  /// Only these chunks, in ascending order; null for all. What a condition on single passages comes down to.
  std::shared_ptr<const std::vector<ChunkId>> chunks;

  bool empty() const { return !narrows_documents() && chunks == nullptr; }
  /// Some condition but `chunks` is filled.
  bool narrows_documents() const;
};

/// The one meaning of a Filter's conditions on documents for engines that can't push it down.
bool matches(const Filter& filter, DocumentId document, const std::string& key, const DocumentAttributes& attributes);
/// And of its condition on chunks.
bool names_chunk(const Filter& filter, ChunkId chunk);

/// The stages that can add to a hit's score, in the order in which they run.
enum class Stage { kVector, kKeyword, kHeading, kLate, kJudge, kBoost, kPenalty };

/// The stage's name on the wire and in traces: "vector".
std::string_view to_string(Stage stage);

/// What became of a candidate, in the order of the stages that decide: all but the last were cut on the way.
enum class Fate {
  kFuseLimit,      ///< Past the candidates whose passages are looked at.
  kGone,           ///< Its document was deleted meanwhile.
  kDocumentLimit,  ///< Its document has enough passages among the hits.
  kTopLimit,       ///< Past the hits that go on to the gate.
  kBelowGate,      ///< The gate found that none of the hits can carry an answer.
  kReadLimit,      ///< Past the hits that the reader looks at.
  kFarFromBest,    ///< Its score is too far below the best hit's to be read beside it.
  kNoSentence,     ///< Read; no sentence of it answers.
  kRepeated,       ///< Read; what it says was quoted from another.
  kNotCited,       ///< The model had it and did not cite it.
  kCited,
};
/// Where it ended and why, as names: "fuse" and "limit", "answer" and "cited".
std::string_view stage_of(Fate fate);
std::string_view reason_of(Fate fate);

/// What one stage said of one hit: its own number, that number brought to 0..1 for this question, and what it
/// added to the sum.
struct StageScore {
  Stage stage = Stage::kVector;
  double raw = 0;
  double normalised = 0;
  double weight = 0;

  double contribution() const { return weight * normalised; }
};

/// A chunk with its scores. `score` is the sum of the contributions and orders the hits of one question; it is
/// never compared across questions: gates read the raw numbers.
struct Hit {
  Chunk chunk;
  std::string document_key;
  DocumentAttributes document;
  std::vector<StageScore> terms;
  double score = 0;
  /// Raw cosine of question and passage; where the vector stage did not see the passage it is computed, so a
  /// gate never meets a hole.
  double cosine = 0;
  /// Share of the question's content words, weighed by their rarity, that the passage holds.
  double coverage = 0;

  const StageScore* term(Stage stage) const;
};

}  // namespace footnote
