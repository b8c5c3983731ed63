#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "base/error.h"
#include "domain/profile.h"
#include "domain/retrieval.h"
#include "domain/turn_stage.h"
#include "ports/vector_store.h"
#include "retrieve/gate.h"

namespace footnote::retrieve {

/// The timed stages, in order.
inline constexpr TurnStage kRetrievalStages[] = {TurnStage::kEmbed, TurnStage::kVector, TurnStage::kKeyword,
                                                 TurnStage::kFuse,  TurnStage::kLate,   TurnStage::kFetch,
                                                 TurnStage::kJudge, TurnStage::kSelect, TurnStage::kGate};

struct StageTiming {
  TurnStage stage = TurnStage::kRetrieve;
  std::chrono::microseconds start{0};  ///< Relative to the start of retrieval.
  std::chrono::microseconds took{0};
};

/// Bound on the candidates listed per reason for a cut; the best are listed.
inline constexpr std::size_t kCutNamedMax = 6;

/// A candidate that did not become a hit. Its chunk has no text; if its document was deleted, only the id.
struct CutCandidate {
  Hit hit;
  Fate fate = Fate::kFuseLimit;
};

/// A stage that failed and was skipped.
struct StageFailure {
  TurnStage stage = TurnStage::kRetrieve;
  Error error;
};

/// The result of retrieval, and everything that explains it. `hits` holds the best `profile.top_k`, best first.
struct Retrieval {
  Generation generation = 0;
  std::vector<Hit> hits;
  GateVerdict gate;
  GatePolicy policy = {};  ///< Used by the gate.
  std::size_t candidates = 0;
  std::vector<CutCandidate> cut;           ///< The best of each fate; those that got furthest come first.
  std::map<Fate, std::size_t> cut_counts;  ///< All cut candidates, listed or not; together with the hits they add up to `candidates`.
  std::vector<StageTiming> timings;
  std::vector<StageFailure> failures;  ///< If not empty, the order comes from the remaining stages only.
  VectorSearchReport vector_search;    ///< No plan: vectors were not searched.
  /// The question's language (ISO 639-1) if the embedder does not support it; otherwise empty.
  std::string_view foreign_language = {};
  /// The question is in that language, and the passages are in another: their order means little, so the gate is closed.
  bool language_not_covered = false;
  std::string translation = {};  ///< The question as it was searched, if it was translated.
};

}  // namespace footnote::retrieve
