#include "fakes/memory_edge_store.h"

#include <algorithm>

namespace footnote::fakes {

namespace {

bool is_same(const Edge& a, const Edge& b) { return a.from_key == b.from_key && a.to_key == b.to_key && a.type == b.type; }

}  // namespace

Result<std::vector<Edge>> MemoryEdgeStore::edges_from(const CallContext& call, CorpusId corpus, std::span<const std::string> keys,
                                                      std::size_t limit) const {
  FOOTNOTE_TRY(std::vector<Edge> edges, documents_.live_edges(corpus));
  {
    MutexLock lock(mutex_);
    if (const auto added = added_.find(corpus); added != added_.end())
      edges.insert(edges.end(), added->second.begin(), added->second.end());
  }
  std::erase_if(edges, [&](const Edge& edge) { return std::ranges::find(keys, edge.from_key) == keys.end(); });
  std::ranges::stable_sort(edges, std::greater{}, &Edge::weight);
  edges.resize(std::min(edges.size(), limit));
  for (Edge& edge : edges) {
    std::string found;
    for (const std::string& key : meanings_of(edge.from_key, edge.to_key)) {
      FOOTNOTE_TRY(const auto document, documents_.find_document(call, corpus, key));
      if (document && found.empty()) found = key;
    }
    edge.to_key = found;
  }
  std::erase_if(edges, [](const Edge& edge) { return edge.to_key.empty() || edge.to_key == edge.from_key; });
  return edges;
}

Result<void> MemoryEdgeStore::put_edge(const CallContext&, CorpusId corpus, const Edge& edge) {
  FOOTNOTE_CHECK(documents_.live_edges(corpus));
  MutexLock lock(mutex_);
  std::vector<Edge>& edges = added_[corpus];
  std::erase_if(edges, [&](const Edge& other) { return is_same(edge, other); });
  if (edges.size() >= kAddedEdgesMax) return fail(ErrorCode::kResourceExhausted, "too many edges");
  edges.push_back(edge);
  edges.back().provenance = "api";
  return {};
}

Result<bool> MemoryEdgeStore::remove_edge(const CallContext&, CorpusId corpus, const Edge& edge) {
  FOOTNOTE_CHECK(documents_.live_edges(corpus));
  MutexLock lock(mutex_);
  return std::erase_if(added_[corpus], [&](const Edge& other) { return is_same(edge, other); }) > 0;
}

}  // namespace footnote::fakes
