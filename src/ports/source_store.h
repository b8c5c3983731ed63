#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/source.h"

namespace footnote {

/// Sources: where documents come from and when they are synced. Thread-safe; writes are durable when they return. Sources of other
/// workspaces return kNotFound, exactly like sources that never existed. The catalog's ensure_source() makes sources too; they are listed
/// here, without a schedule.
class SourceStore {
 public:
  virtual ~SourceStore() = default;

  struct Put {
    SourceRecord record;
    bool created = false;
  };
  /// Adds a source, or replaces title, content, options, schedule and watch of the one with that corpus, kind and location. A new schedule
  /// starts now. kInvalidArgument: see check_source_spec. kNotFound: no such corpus. kResourceExhausted: beyond kSourcesMax.
  virtual Result<Put> put(const CallContext& call, const SourceSpec& spec) = 0;
  /// kNotFound.
  virtual Result<SourceRecord> source(const CallContext& call, WorkspaceId workspace, SourceId id) const = 0;
  /// Ordered by id.
  virtual Result<std::vector<SourceRecord>> sources(const CallContext& call, WorkspaceId workspace) const = 0;
  /// Of all workspaces: with a schedule that is due, and that are watched.
  virtual Result<std::vector<SourceRecord>> due(const CallContext& call, UtcTime now, std::size_t limit) const = 0;
  virtual Result<std::vector<SourceRecord>> watched(const CallContext& call) const = 0;
  /// Live documents and passages, counted now.
  virtual Result<SourceCounts> counts(const CallContext& call, SourceId id) const = 0;

  /// A sync ended at `at`: completely if `error` is empty, which sets synced_at. The schedule goes on from `at`. Ignores a source that no
  /// longer exists.
  virtual Result<void> note_sync(const CallContext& call, SourceId id, UtcTime at, std::string_view error) = 0;
  /// Moves the schedule on, so that a source in the queue is not due again at once.
  virtual Result<void> postpone(const CallContext& call, SourceId id, UtcTime next_at) = 0;

  /// Ordered by key.
  virtual Result<std::vector<SourceFailure>> failures(const CallContext& call, SourceId id) const = 0;
  /// Replaces all of them; beyond kSourceFailuresMax the last are dropped. Ignores a source that no longer exists.
  virtual Result<void> set_failures(const CallContext& call, SourceId id, std::span<const SourceFailure> failures) = 0;

  /// Deletes the source and its live documents in one atomic, durable step, and increments the corpus's generation. Later commits in its
  /// name are kNotFound. Returns the number of documents. kNotFound.
  virtual Result<std::size_t> erase(const CallContext& call, WorkspaceId workspace, SourceId id) = 0;
};

}  // namespace footnote
