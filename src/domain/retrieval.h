#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"
#include "domain/catalog.h"
#include "domain/document.h"
#include "domain/ids.h"
#include "domain/judgement.h"
#include "domain/turn_stage.h"

namespace footnote {

/// Restricts a search to passages that meet every condition set. An empty filter matches everything except documents with labels: those are
/// found only by a caller who has one of them.
struct Filter {
  std::vector<DocumentId> documents;
  std::vector<std::string> keys;
  std::vector<std::string> tags;  ///< At least one of these tags.
  std::vector<std::string> media_types;
  std::vector<std::string> languages;
  std::vector<std::string> canonical_types;
  std::vector<DocumentStatus> statuses;
  std::vector<std::string> source_types = {};
  std::vector<std::string> path_globs = {};  ///< Match document keys: see PathGlobs. If a pattern is invalid, nothing matches.
  std::vector<EvidenceTier> evidence_tiers = {};
  std::optional<UtcTime> updated_from = {};   ///< Inclusive. Compares updated_at if the document states it, else indexed_at.
  std::optional<UtcTime> updated_until = {};  ///< Exclusive.
  std::vector<std::string> acl_labels = {};   ///< Documents with at least one of these labels.
  /// Only these chunks, ascending; null for all. Conditions on single passages are resolved to this list.
  std::shared_ptr<const std::vector<ChunkId>> chunks = {};
  /// Labels that the caller has. Not a condition: they only make labelled documents visible.
  std::vector<std::string> caller_labels = {};

  bool empty() const { return !narrows_documents() && chunks == nullptr; }
  /// True if any condition other than `chunks` is set.
  bool narrows_documents() const;
};

/// True if both match the same documents, regardless of `chunks`.
bool same_documents(const Filter& a, const Filter& b);

/// The properties that a filter tests. Borrows.
struct FilterSubject {
  DocumentId document;
  std::string_view key;
  std::string_view source_type;
  const DocumentAttributes& attributes;
  UtcTime indexed_at;
};

/// The single implementation of a Filter's conditions on documents, prepared for many of them. Borrows the filter.
class DocumentFilter {
 public:
  explicit DocumentFilter(const Filter& filter);
  bool operator()(const FilterSubject& subject) const;

 private:
  const Filter& filter_;
  std::vector<DocumentId> documents_;   // sorted
  std::vector<std::string_view> keys_;  // sorted
  std::optional<PathGlobs> globs_;      // empty if a pattern is invalid
};

/// DocumentFilter for a single document.
inline bool matches(const Filter& filter, const FilterSubject& subject) { return DocumentFilter(filter)(subject); }
/// True if `chunks` is null or contains this chunk.
bool names_chunk(const Filter& filter, ChunkId chunk);

/// The stages that can contribute to a hit's score, in execution order.
enum class Stage { kVector, kKeyword, kHeading, kLate, kJudge, kBoost, kPenalty, kTags, kCanonical, kMention };

/// The stage's name on the wire and in traces: "vector".
std::string_view to_string(Stage stage);

/// What happened to a candidate, in the order of the stages. Every value except the last means that it was dropped.
enum class Fate {
  kFuseLimit,      ///< Ranked below the candidates whose passages are fetched.
  kGone,           ///< Its document was deleted in the meantime.
  kDocumentLimit,  ///< Its document already has enough passages among the hits.
  kTopLimit,       ///< Ranked below the hits that are passed to the gate.
  kNotPicked,      ///< An equal passage was chosen instead: because of its URL, or for diversity.
  kBelowGate,      ///< Below the gate's threshold: all hits together, or this one if each hit must reach it.
  kReadLimit,      ///< Ranked below the hits that the reader reads.
  kFarFromBest,    ///< Its score is too far below the best hit's.
  kNoSentence,     ///< Read, but no sentence of it answers.
  kRepeated,       ///< Read, but its content was already quoted from another passage.
  kNotCited,       ///< In the prompt, but not cited by the model.
  kCited,
};
/// The stage that dropped it and the reason's name: kFuse and "limit", kAnswer and "cited".
TurnStage stage_of(Fate fate);
std::string_view reason_of(Fate fate);

/// One stage's score for one hit: the raw value, that value normalised to 0..1 for this question, and its weight in the sum.
struct StageScore {
  Stage stage = Stage::kVector;
  double raw = 0;
  double normalised = 0;
  double weight = 0;

  double contribution() const { return weight * normalised; }
};

/// A chunk with its scores. `score` is the sum of the contributions and orders the hits of one question; never compare it across questions:
/// gates use `probability`.
struct Hit {
  CorpusId corpus = {};
  Chunk chunk;
  std::string document_key;
  DocumentAttributes document;
  std::vector<StageScore> terms;
  double score = 0;
  /// Raw cosine of question and passage; computed if the vector stage did not see the passage, so gates always have it.
  double cosine = 0;
  /// Share of the question's content words that the passage contains, weighted by rarity.
  double coverage = 0;
  /// How likely this passage answers the question, 0..1, from its raw signals and without boosts. Comparable across questions
  /// (retrieve/score_model.h).
  double probability = 0;
  /// The judge's output, if it read this passage. The range of a found answer counts bytes of the chunk's text.
  std::optional<Judgement> judged = {};

  const StageScore* term(Stage stage) const;
};

}  // namespace footnote
