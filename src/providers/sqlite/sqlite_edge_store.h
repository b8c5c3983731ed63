#pragma once

#include "ports/edge_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/edge_store.h (EdgeStore) over the embedded database.
class SqliteEdgeStore final : public EdgeStore {
 public:
  explicit SqliteEdgeStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Edge>> edges_from(const CallContext& call, CorpusId corpus, std::span<const std::string> keys,
                                       std::size_t limit) const override;
  Result<void> put_edge(const CallContext& call, CorpusId corpus, const Edge& edge) override;
  Result<bool> remove_edge(const CallContext& call, CorpusId corpus, const Edge& edge) override;

 private:
  SqliteStore& store_;
};

}  // namespace footnote
