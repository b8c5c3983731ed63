#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/retrieval.h"

namespace footnote {

/// A hit as the model and the reader of the answer see it, numbered from 1.
struct SourceBlock {
  int number = 0;
  Hit hit;
};

/// Whether the cited passage was found to carry the sentence. kUnchecked until something has looked.
enum class Support { kUnchecked, kSupported, kUnsupported };

/// A `[n]` of an answer, bound to its block. `answer_range` covers the sentence in the answer's text that it
/// backs; `support_range` the exact characters of the document version's text that carry it.
struct Citation {
  int number = 0;
  DocumentId document;
  int document_version = 1;
  ChunkId chunk;
  TextRange answer_range;
  std::optional<TextRange> support_range;
  Support support = Support::kUnchecked;
};

enum class RefusalReason {
  kNoRelevantContext,    ///< Retrieval found nothing above the gate; no model was called.
  kLlmSelfRefusal,       ///< The model said that the sources do not answer.
  kBlockedByGuardrails,  ///< Policy of the front door.
};

/// The reason's name on the wire; never localised: "no_relevant_context".
std::string_view to_string(RefusalReason reason);

struct Answer {
  std::string text;
  std::vector<SourceBlock> sources;
  std::vector<Citation> citations;
  std::vector<TextRange> uncited = {};  ///< Sentences of the text that state something without a marker; where citations were checked.
  double confidence = 0;                ///< 0..1
  std::string model;                    ///< Empty when the built-in reader answered.
};

/// An honest "not in here": an outcome, not an error. `nearest` holds what came closest, for people to look at.
struct Refusal {
  RefusalReason reason = RefusalReason::kNoRelevantContext;
  std::string text;
  std::vector<SourceBlock> nearest;
};

/// A question back.
struct Clarification {
  std::string text;
};

using Outcome = std::variant<Answer, Refusal, Clarification>;

}  // namespace footnote
