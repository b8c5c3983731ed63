#pragma once

#include "ports/point_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/point_store.h (PointStore) over the embedded database. A deleted collection disappears atomically; its rows are then
/// erased in small transactions, and leftovers of a crash are erased by the next deletion.
class SqlitePointStore final : public PointStore {
 public:
  explicit SqlitePointStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Point>> points(const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                    PointVectors vectors) const override;
  Result<std::vector<Point>> points_of(const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                       PointVectors vectors) const override;
  Result<std::vector<Point>> scroll(const CallContext& call, CorpusId corpus, const std::optional<PointId>& from, std::size_t limit,
                                    PointVectors vectors) const override;
  Result<void> each(const CallContext& call, CorpusId corpus, const std::function<Result<void>(const Point&)>& take) const override;
  Result<void> visit(const CallContext& call, CorpusId corpus, Generation generation, const std::vector<ChunkId>* among,
                     const PointVisitor& visitor) const override;
  Result<std::optional<std::vector<ChunkId>>> looked_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                        std::string_view field, std::span<const PayloadKey> values) const override;

  Result<void> put_index(const CallContext& call, CorpusId corpus, const PayloadIndex& index) override;
  Result<bool> delete_index(const CallContext& call, CorpusId corpus, std::string_view field) override;
  Result<std::vector<PayloadIndex>> indexes(const CallContext& call, CorpusId corpus) const override;

  Result<Collection> collection(const CallContext& call, WorkspaceId workspace, std::string_view name) const override;
  Result<Collection> create_collection(const CallContext& call, const Collection& wanted) override;
  Result<void> set_config(const CallContext& call, CorpusId corpus, std::string_view config) override;
  Result<void> delete_collection(const CallContext& call, CorpusId corpus) override;
  Result<std::vector<CollectionAlias>> aliases(const CallContext& call, WorkspaceId workspace) const override;
  Result<void> change_aliases(const CallContext& call, WorkspaceId workspace, std::span<const AliasChange> changes) override;

 private:
  SqliteStore& store_;
};

}  // namespace footnote
