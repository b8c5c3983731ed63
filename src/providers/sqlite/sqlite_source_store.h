#pragma once

#include "ports/source_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/source_store.h (SourceStore) over the embedded database. Deleting a source also cancels its jobs.
class SqliteSourceStore final : public SourceStore {
 public:
  explicit SqliteSourceStore(SqliteStore& store) : store_(store) {}

  Result<Put> put(const CallContext& call, const SourceSpec& spec) override;
  Result<SourceRecord> source(const CallContext& call, WorkspaceId workspace, SourceId id) const override;
  Result<std::vector<SourceRecord>> sources(const CallContext& call, WorkspaceId workspace) const override;
  Result<std::vector<SourceRecord>> due(const CallContext& call, UtcTime now, std::size_t limit) const override;
  Result<std::vector<SourceRecord>> watched(const CallContext& call) const override;
  Result<SourceCounts> counts(const CallContext& call, SourceId id) const override;
  Result<void> note_sync(const CallContext& call, SourceId id, UtcTime at, std::string_view error) override;
  Result<void> postpone(const CallContext& call, SourceId id, UtcTime next_at) override;
  Result<std::vector<SourceFailure>> failures(const CallContext& call, SourceId id) const override;
  Result<void> set_failures(const CallContext& call, SourceId id, std::span<const SourceFailure> failures) override;
  Result<std::size_t> erase(const CallContext& call, WorkspaceId workspace, SourceId id) override;

 private:
  SqliteStore& store_;
};

}  // namespace footnote
