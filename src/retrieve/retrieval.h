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

/// The stages whose time is taken, in order.
inline constexpr TurnStage kRetrievalStages[] = {TurnStage::kEmbed, TurnStage::kVector, TurnStage::kKeyword,
                                                 TurnStage::kFuse,  TurnStage::kLate,   TurnStage::kFetch,
                                                 TurnStage::kJudge, TurnStage::kSelect, TurnStage::kGate};

struct StageTiming {
  TurnStage stage = TurnStage::kRetrieve;
  std::chrono::microseconds start{0};  ///< After retrieval's own start.
  std::chrono::microseconds took{0};
};

/// Of the candidates that were cut for one reason, so many are named: the best.
inline constexpr std::size_t kCutNamedMax = 6;

/// A candidate that did not become a hit. Its chunk has no text; that of a document which is gone has its id alone.
struct CutCandidate {
  Hit hit;
  Fate fate = Fate::kFuseLimit;
};

/// A stage that failed and was done without.
struct StageFailure {
  TurnStage stage = TurnStage::kRetrieve;
  Error error;
};

/// What retrieval found, and all that explains it. `hits` holds the best `profile.top_k`, best first.
struct Retrieval {
  Generation generation = 0;
  std::vector<Hit> hits;
  GateVerdict gate;
  GatePolicy policy = {};  ///< That the gate went by.
  std::size_t candidates = 0;
  std::vector<CutCandidate> cut;           ///< The best of each fate; those that came furthest first.
  std::map<Fate, std::size_t> cut_counts;  ///< All of them, named or not: with the hits they make up the candidates.
  std::vector<StageTiming> timings;
  std::vector<StageFailure> failures;  ///< Not empty: the order is what the stages that were left made it.
  VectorSearchReport vector_search;    ///< No plan: vectors were not searched.
  /// The question's language (ISO 639-1), where it is none of those that the embedder was made for; otherwise empty.
  std::string_view foreign_language = {};
};

}  // namespace footnote::retrieve
