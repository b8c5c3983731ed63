#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer/model_stream.h"
#include "base/error.h"
#include "base/json.h"
#include "domain/retrieval.h"
#include "ports/conversation_store.h"
#include "ports/llm.h"
#include "retrieve/retrieval.h"

namespace footnote::answer {

struct TurnReport;

/// The form of the text; counted up when a field changes its meaning.
inline constexpr int kTurnTraceVersion = 1;
/// Candidates that a trace names; the others are counted.
inline constexpr std::size_t kTraceCandidatesMax = 40;
/// Bytes of a title or path in it.
inline constexpr std::size_t kTraceNameBytesMax = 200;

/// The field of a candidate whose document has labels.
inline constexpr std::string_view kTraceLabelled = "labelled";

/// The stages of a turn that come after those of retrieval.
inline constexpr TurnStage kAnswerStages[] = {TurnStage::kRead, TurnStage::kPrompt, TurnStage::kLlm, TurnStage::kCite, TurnStage::kStore};

/// A call of the language model. `name` and `finish` are known once it ended well.
struct ModelCall {
  std::size_t prompt_messages = 0;
  std::size_t prompt_bytes = 0;
  std::string name;
  std::optional<FinishReason> finish;
};

/// What went wrong on the way, and where.
struct TraceError {
  TurnStage stage = TurnStage::kRetrieve;
  Error error;
};

/// What happened in a turn beside its outcome.
struct TurnTrace {
  TraceContext trace;
  std::string request_id;
  Profile profile;
  std::vector<retrieve::StageTiming> stages;            ///< Start is counted from the turn's.
  std::vector<Fate> fates;                              ///< One for each hit of the retrieval.
  std::optional<std::chrono::microseconds> first_text;  ///< When the first text of an answer was handed over.
  std::optional<ModelCall> model;
  std::optional<CheckCounts> checks;  ///< Of a language model's answer.
  std::string_view follow_up = {};    ///< Who made a visitor's follow-up searchable: "words", "model"; empty: it is none.
  std::vector<TraceError> errors;
};

/// The trace as the text that is kept with the turn and that GET /api/turns/{id}/trace gives; docs/observability.md
/// describes it. It holds ids, scores, titles and paths; neither the question nor text of passages or the answer. At
/// most kTurnTraceBytesMax long: where the names are too many, fewer candidates are named.
std::string render_turn_trace(const TurnReport& report);

/// {"grounded","evidence","threshold","cosine","coverage","confidence"}
JsonObject gate_json(const retrieve::GateVerdict& gate);

/// {"plan","scanned","rescored"}; null where vectors were not searched.
Json vector_search_json(const VectorSearchReport& report);

/// How many candidates were cut, and where and why: [{"stage","reason","count"}].
JsonArray cuts_json(const std::map<Fate, std::size_t>& counts);

}  // namespace footnote::answer
