#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "domain/agent.h"
#include "ports/cache.h"
#include "retrieve/cached_retrieval.h"
#include "retrieve/retriever.h"
#include "retrieve/several_corpora.h"

namespace footnote::retrieve {

/// A visitor's question, and what to search.
struct SiteQuery {
  WorkspaceId workspace;
  AgentId agent;
  std::vector<SearchedCorpus> corpora;  ///< Only these are searched.
  std::string query;
  std::string page_url = {};             ///< Canonical; empty: unknown.
  std::optional<double> threshold = {};  ///< None: that of each corpus's gate.
  /// A model reads the passages and decides (see reading_profile()): the best of each corpus are wanted, whatever its gate says.
  bool to_read = false;
};

/// The passages of all corpora that passed the threshold, best first.
struct SiteRetrieval {
  Retrieval found;
  double confidence = 0;  ///< The best probability among the passages, without boosts.
  bool cached = false;
};

/// Retrieval for a site: searches each of the agent's corpora with the Retriever, merges the hits by probability (sums are not
/// comparable across corpora) and caches the result for kRetrievalCacheTime. The cache holds chunk ids; the texts come from the store, so a
/// deleted chunk is a miss. The key includes the corpora's generations, so every change is noticed; the first change that is seen purges
/// all of the agent's entries. A retrieval that skipped a failed stage is not cached. Thread-safe; borrows its ports.
class SiteRetriever {
 public:
  struct Ports {
    const Retriever& retriever;
    const VectorSearch& vectors;
    const KeywordSearch& keywords;
    const ChunkReader& chunks;
    Cache* cache = nullptr;  ///< Null: no caching.
    std::string model = {};  ///< The embedder's model.
    std::string judge = {};  ///< The judge's model; empty: none.
  };
  explicit SiteRetriever(Ports ports) : ports_(std::move(ports)) {}

  Result<SiteRetrieval> retrieve(const CallContext& call, const SiteQuery& query) const;

 private:
  using Generations = std::vector<Generation>;
  std::optional<RetrievalKey> key_of(const CallContext& call, const SiteQuery& query) const;
  std::optional<SiteRetrieval> recalled(const CallContext& call, const std::string& key) const;
  void keep(const CallContext& call, const std::string& key, const SiteQuery& query, const SiteRetrieval& retrieval) const;
  void purge_if_changed(const CallContext& call, const RetrievalKey& key) const;

  const Ports ports_;
  mutable Mutex mutex_;
  /// Bound on the agents in `seen_`, which holds the last seen generations of each agent's corpora.
  static constexpr std::size_t kAgentsMax = 10'000;
  mutable std::map<std::string, Generations, std::less<>> seen_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::retrieve
