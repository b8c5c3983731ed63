#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "domain/agent.h"
#include "ports/cache.h"
#include "retrieve/cached_retrieval.h"
#include "retrieve/retriever.h"

namespace footnote::retrieve {

/// A corpus of an agent, and how it is searched: with the gate that was measured for it.
struct SearchedCorpus {
  CorpusId corpus;
  Profile profile = kVisitorProfile;
};

/// What a visitor's question is looked up in.
struct SiteQuery {
  WorkspaceId workspace;
  AgentId agent;
  std::vector<SearchedCorpus> corpora;  ///< These and no others.
  std::string query;
  std::string page_url = {};  ///< Canonical; empty: not known.
  double threshold = kConfidenceThresholdDefault;
};

/// The passages that came through the threshold, of all corpora together, best first.
struct SiteRetrieval {
  Retrieval found;
  double confidence = 0;  ///< The best calibrated score among them, unboosted.
  bool cached = false;
};

/// Retrieval for a site: each of the agent's corpora through the one ranking stage, their hits put together by calibrated score (what the
/// stages add up to is never compared across corpora), kept for kRetrievalCacheTime. What is kept names chunks: their texts come from the
/// store, so one that was deleted since is a miss. The corpora's generations are part of the key, so no change is overlooked; with the
/// first one that is seen all that is kept for the agent goes. A retrieval that had to do without a stage is not kept. Thread-safe;
/// borrows its ports.
class SiteRetriever {
 public:
  struct Ports {
    const Retriever& retriever;
    const VectorSearch& vectors;
    const KeywordSearch& keywords;
    const ChunkReader& chunks;
    Cache* cache = nullptr;  ///< Null: nothing is kept.
    std::string model = {};  ///< Of the embedder.
    std::string judge = {};  ///< Empty: none.
  };
  explicit SiteRetriever(Ports ports) : ports_(std::move(ports)) {}

  Result<SiteRetrieval> retrieve(const CallContext& call, const SiteQuery& query) const;

 private:
  using Generations = std::vector<Generation>;
  std::optional<RetrievalKey> key_of(const CallContext& call, const SiteQuery& query) const;
  std::optional<SiteRetrieval> recalled(const CallContext& call, const std::string& key) const;
  void keep(const CallContext& call, const std::string& key, const SiteQuery& query, const SiteRetrieval& retrieval,
            const std::vector<CorpusId>& corpus_of_hit) const;
  void purge_if_changed(const CallContext& call, const RetrievalKey& key) const;

  const Ports ports_;
  mutable Mutex mutex_;
  /// Of each agent that was asked: what its corpora were at. At most kAgentsMax.
  static constexpr std::size_t kAgentsMax = 10'000;
  mutable std::map<std::string, Generations, std::less<>> seen_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::retrieve
