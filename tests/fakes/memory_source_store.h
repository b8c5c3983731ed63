#pragma once

#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "fakes/memory_job_store.h"
#include "fakes/memory_store.h"
#include "ports/source_store.h"

namespace footnote::fakes {

/// Sources in memory, over a MemoryStore that has their documents. It keeps every promise of its port but durability. Thread-safe. Borrows
/// everything; `jobs` may be null.
class MemorySourceStore final : public SourceStore {
 public:
  MemorySourceStore(MemoryStore& store, MemoryJobStore* jobs, const Clock& clock) : store_(store), jobs_(jobs), clock_(clock) {}

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
  std::vector<SourceRecord> all() const;
  Result<std::vector<Document>> documents_of(const CallContext& call, const SourceRecord& record) const;

  MemoryStore& store_;
  MemoryJobStore* const jobs_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<SourceId, SourceRecord> described_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<SourceId, std::vector<SourceFailure>> failures_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
