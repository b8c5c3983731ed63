#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/retrieval.h"

namespace footnote {

/// Why a passage is among the sources: it was found, a found document refers to it, or it was tried and rejected.
enum class SourceOrigin { kPrimary, kRelated, kRejected };
/// "primary", "related", "rejected"
std::string_view to_string(SourceOrigin origin);

/// A hit as shown to the model and to the reader of the answer, numbered from 1.
struct SourceBlock {
  int number = 0;
  Hit hit;
  SourceOrigin origin = SourceOrigin::kPrimary;
};

/// Whether the cited passage supports the sentence. kUnchecked until it has been verified.
enum class Support { kUnchecked, kSupported, kUnsupported };

/// A `[n]` of an answer, resolved to its block, or a source that the answer forgot to name (`is_bound`). `answer_range` is the sentence in
/// the answer's text that it backs; `support_range` the exact part of the document version's text that supports it.
struct Citation {
  int number = 0;
  DocumentId document;
  int document_version = 1;
  ChunkId chunk;
  TextRange answer_range;
  std::optional<TextRange> support_range;
  Support support = Support::kUnchecked;
  bool is_bound = false;  ///< The text has no marker for it: the citation check found that this source carries the sentence.
};

enum class RefusalReason {
  kNoRelevantContext,    ///< Retrieval found nothing above the gate; no model was called.
  kLlmSelfRefusal,       ///< The model said that the sources do not contain the answer.
  kBlockedByGuardrails,  ///< Policy of the entry point.
  kLanguageNotCovered,   ///< The question is in a language that neither the documents nor the search model have; no model was called.
};

/// The reason's name on the wire; never localized: "no_relevant_context".
std::string_view to_string(RefusalReason reason);

struct Answer {
  std::string text;
  std::vector<SourceBlock> sources;
  std::vector<Citation> citations;
  std::vector<TextRange> uncited = {};  ///< Sentences that make a claim without a marker; set if citations were checked.
  double confidence = 0;                ///< 0..1
  std::string model;                    ///< Empty if the built-in reader answered.
};

/// "The corpus does not answer this": an outcome, not an error. `nearest` holds the closest matches, for people to look at.
struct Refusal {
  RefusalReason reason = RefusalReason::kNoRelevantContext;
  std::string text;
  std::vector<SourceBlock> nearest;
};

/// A question back to the user.
struct Clarification {
  std::string text;
};

using Outcome = std::variant<Answer, Refusal, Clarification>;

}  // namespace footnote
