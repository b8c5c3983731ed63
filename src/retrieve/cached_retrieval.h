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

/// What the passages found for a question depend on, all of it: equal keys mean equal retrievals.
struct RetrievalKey {
  WorkspaceId workspace;
  AgentId agent;
  std::string model;  ///< Of the embedder.
  std::string judge;  ///< Empty: none.
  struct CorpusState {
    CorpusId corpus;
    Generation generation = 0;
    std::string calibration;  ///< Of its gate.
  };
  std::vector<CorpusState> corpora;
  double threshold = 0;
  std::string query;
  std::string page_url;
};

/// "rag:retrieve:{agent}:{SHA-256 over all of it, each part with its length}"
std::string cache_key(const RetrievalKey& key);
/// What a purge of all of an agent's retrievals drops: "rag:agent:{agent}"
std::string cache_tag(const AgentId& agent);

/// One hit in a cache: which chunk, and every number that explains it. Its text is not kept: the store has it, unless it was deleted.
struct CachedHit {
  CorpusId corpus;
  Hit scores;  ///< Its chunk has its id alone; the document is empty.
};

struct CachedRetrieval {
  Generation generation = 0;
  std::size_t candidates = 0;
  double confidence = 0;
  GateVerdict gate;
  std::vector<CachedHit> hits;
};

std::string to_bytes(const CachedRetrieval& retrieval);
/// None for bytes that `to_bytes` of this version did not make.
std::optional<CachedRetrieval> from_bytes(std::string_view bytes);

}  // namespace footnote::retrieve
