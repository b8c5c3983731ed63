#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "fakes/memory_store.h"
#include "ports/edge_store.h"

namespace footnote::fakes {

/// Edges in memory; those that texts state are in a MemoryStore. Keeps every promise of its port but durability. Thread-safe.
class MemoryEdgeStore final : public EdgeStore {
 public:
  explicit MemoryEdgeStore(const MemoryStore& documents) : documents_(documents) {}

  Result<std::vector<Edge>> edges_from(const CallContext& call, CorpusId corpus, std::span<const std::string> keys,
                                       std::size_t limit) const override;
  Result<void> put_edge(const CallContext& call, CorpusId corpus, const Edge& edge) override;
  Result<bool> remove_edge(const CallContext& call, CorpusId corpus, const Edge& edge) override;

 private:
  const MemoryStore& documents_;
  mutable Mutex mutex_;
  std::map<CorpusId, std::vector<Edge>> added_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
