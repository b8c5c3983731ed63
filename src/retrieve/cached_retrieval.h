#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ids.h"
#include "retrieve/retriever.h"

namespace footnote::retrieve {

inline constexpr std::chrono::minutes kRetrievalCacheTime{30};

/// Everything that a retrieval depends on: equal keys mean equal retrievals.
struct RetrievalKey {
  WorkspaceId workspace;
  AgentId agent;
  std::string model;  ///< The embedder's model.
  std::string judge;  ///< The judge's model; empty: none.
  struct CorpusState {
    CorpusId corpus;
    Generation generation = 0;
    std::string calibration;  ///< Fingerprint of the gate's calibration.
  };
  std::vector<CorpusState> corpora;
  double threshold = 0;  ///< Negative: use the threshold of each corpus's gate.
  std::string query;
  std::string page_url;
};

/// "rag:retrieve:{agent}:{SHA-256 over all parts, each with its length}"
std::string cache_key(const RetrievalKey& key);
/// The tag that purges all of an agent's retrievals: "rag:agent:{agent}"
std::string cache_tag(const AgentId& agent);

/// One cached hit: the chunk's id and all scores. The text is not cached; it is read from the store, unless it was deleted.
struct CachedHit {
  CorpusId corpus;
  Hit scores;  ///< Only the chunk's id is set; the document is empty.
};

struct CachedRetrieval {
  Generation generation = 0;
  std::size_t candidates = 0;
  std::size_t searched = 0;  ///< Passages that were compared with the question: see VectorSearchReport::scanned.
  double confidence = 0;
  GateVerdict gate;
  std::vector<CachedHit> hits;
};

std::string to_bytes(const CachedRetrieval& retrieval);
/// None unless the bytes were written by `to_bytes` of this version.
std::optional<CachedRetrieval> from_bytes(std::string_view bytes);

}  // namespace footnote::retrieve
