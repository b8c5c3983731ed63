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
  GatePolicy policy = {};  ///< The policy that the gate used.
  std::size_t candidates = 0;
  std::vector<CutCandidate> cut;           ///< The best candidates of each fate; those that passed the most stages come first.
  std::map<Fate, std::size_t> cut_counts;  ///< Counts all cut candidates, listed or not; cut candidates + hits = `candidates`.
  std::vector<StageTiming> timings;
  std::vector<StageFailure> failures;  ///< If not empty, the order comes from the remaining stages only.
  VectorSearchReport vector_search;    ///< Empty plan: no vector search was done.
  /// The question's language (ISO 639-1) if the embedder does not support it; otherwise empty.
  std::string_view foreign_language = {};
  /// True: the question is in that language and the passages are in another. Their order means little, so the gate refuses.
  bool language_not_covered = false;
  std::string translation = {};  ///< The translated question that was searched; empty: not translated.
};

}  // namespace footnote::retrieve
