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
#include "retrieve/side_sources.h"

namespace footnote::answer {

struct TurnReport;

/// Version of the format; incremented when a field changes its meaning.
inline constexpr int kTurnTraceVersion = 1;
/// Bound on the candidates listed in a trace; the rest are only counted.
inline constexpr std::size_t kTraceCandidatesMax = 40;
/// Bound on a title or path in a trace.
inline constexpr std::size_t kTraceNameBytesMax = 200;

/// Set on a candidate whose document has labels.
inline constexpr std::string_view kTraceLabelled = "labelled";

/// The stages of a turn after retrieval.
inline constexpr TurnStage kAnswerStages[] = {TurnStage::kRead, TurnStage::kPrompt, TurnStage::kLlm, TurnStage::kCite, TurnStage::kStore};

/// A call of the language model. `name` and `finish` are set once it has succeeded.
struct ModelCall {
  std::size_t prompt_messages = 0;
  std::size_t prompt_bytes = 0;
  std::string name;
  std::optional<FinishReason> finish;
};

/// An error during the turn, and its stage.
struct TraceError {
  TurnStage stage = TurnStage::kRetrieve;
  Error error;
};

/// What happened during a turn, besides its outcome.
struct TurnTrace {
  TraceContext trace;
  std::string request_id;
  Profile profile;
  std::vector<retrieve::StageTiming> stages;            ///< Start times are relative to the turn's start.
  std::vector<Fate> fates;                              ///< One per retrieved hit.
  std::optional<std::chrono::microseconds> first_text;  ///< When the first text of an answer was delivered.
  std::optional<ModelCall> model;
  std::optional<CheckCounts> checks;  ///< Set for a language model's answer.
  std::string_view follow_up = {};    ///< How a visitor's follow-up was rewritten: "words", "model"; empty: not a follow-up.
  std::vector<TraceError> errors;
  std::optional<retrieve::SideSources> side = {};  ///< What a language model got besides the hits.
};

/// Renders the trace as it is stored with the turn and returned by GET /api/turns/{id}/trace; docs/observability.md describes it. It
/// contains ids, scores, titles and paths, but not the question nor the text of passages or the answer. At most kTurnTraceBytesMax long: if
/// it would be longer, fewer candidates are listed.
std::string render_turn_trace(const TurnReport& report);

/// {"grounded","evidence","threshold","cosine","coverage","confidence"}
JsonObject gate_json(const retrieve::GateVerdict& gate);

/// {"plan","scanned","rescored"}; null if vectors were not searched.
Json vector_search_json(const VectorSearchReport& report);

/// How many candidates were cut, at which stage and why: [{"stage","reason","count"}].
JsonArray cuts_json(const std::map<Fate, std::size_t>& counts);

}  // namespace footnote::answer
