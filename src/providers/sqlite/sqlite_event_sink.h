#pragma once

#include <vector>

#include "ports/event_sink.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

/// Implements ports/event_sink.h (EventSink) over the embedded database, and reads events back for feeds. A workspace keeps about its last
/// kEventsKeptMax events.
class SqliteEventSink final : public EventSink {
 public:
  static constexpr std::int64_t kEventsKeptMax = 100'000;

  explicit SqliteEventSink(SqliteStore& store) : store_(store) {}

  /// kNotFound: the event's corpus is not in its workspace.
  Result<void> append(const CallContext& call, const Event& event) override;

  /// Events of a workspace after `after`, oldest first, at most `limit`; only those of `corpus`, if given.
  Result<std::vector<Event>> after(const CallContext& call, WorkspaceId workspace, CorpusId corpus, EventId after, std::size_t limit) const;

 private:
  SqliteStore& store_;
};

}  // namespace footnote
