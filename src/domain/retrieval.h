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

/// Narrows a search to passages that meet every filled condition. An empty filter lets all through but documents with labels: those
/// are found only by a caller who has one of them.
struct Filter {
  std::vector<DocumentId> documents;
  std::vector<std::string> keys;
  std::vector<std::string> tags;  ///< Any of these.
  std::vector<std::string> media_types;
  std::vector<std::string> languages;
  std::vector<std::string> canonical_types;
  std::vector<DocumentStatus> statuses;
  std::vector<std::string> source_types = {};
  std::vector<std::string> path_globs = {};  ///< Of document keys: see PathGlobs. One that can't be read lets nothing through.
  std::vector<EvidenceTier> evidence_tiers = {};
  std::optional<UtcTime> updated_from = {};   ///< Inclusive. By updated_at where the document tells it, else by indexed_at.
  std::optional<UtcTime> updated_until = {};  ///< Exclusive.
  std::vector<std::string> acl_labels = {};   ///< Documents with any of these labels.
  /// Only these chunks, in ascending order; null for all. What a condition on single passages comes down to.
  std::shared_ptr<const std::vector<ChunkId>> chunks = {};
  /// What the caller has; not a condition of its own.
  std::vector<std::string> caller_labels = {};

  bool empty() const { return !narrows_documents() && chunks == nullptr; }
  /// Some condition but `chunks` is filled.
  bool narrows_documents() const;
};

/// True when both let the same documents through, whatever they say of chunks.
bool same_documents(const Filter& a, const Filter& b);

/// What a filter looks at. Borrows.
struct FilterSubject {
  DocumentId document;
  std::string_view key;
  std::string_view source_type;
  const DocumentAttributes& attributes;
  UtcTime indexed_at;
};

/// The one meaning of a Filter's conditions on documents, made ready for many of them. Borrows the filter.
class DocumentFilter {
 public:
  explicit DocumentFilter(const Filter& filter);
  bool operator()(const FilterSubject& subject) const;

 private:
  const Filter& filter_;
  std::vector<DocumentId> documents_;   // Sorted.
  std::vector<std::string_view> keys_;  // Sorted.
  std::optional<PathGlobs> globs_;      // Empty when a pattern can't be read.
};

/// The same for one.
inline bool matches(const Filter& filter, const FilterSubject& subject) { return DocumentFilter(filter)(subject); }
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
  kNotPicked,      ///< Of equal passages another was picked for the prompt: for its address, or for diversity.
  kBelowGate,      ///< Too little speaks for it: for all of the hits, or for this one where each has to reach a threshold.
  kReadLimit,      ///< Past the hits that the reader looks at.
  kFarFromBest,    ///< Its score is too far below the best hit's to be read beside it.
  kNoSentence,     ///< Read; no sentence of it answers.
  kRepeated,       ///< Read; what it says was quoted from another.
  kNotCited,       ///< The model had it and did not cite it.
  kCited,
};
/// Where it ended, and why as a name: kFuse and "limit", kAnswer and "cited".
TurnStage stage_of(Fate fate);
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
  /// What the judge said of question and passage, where it read them. A found answer's range counts bytes of the chunk's text.
  std::optional<Judgement> judged = {};

  const StageScore* term(Stage stage) const;
};

}  // namespace footnote
