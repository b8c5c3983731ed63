#pragma once

#include <memory>

#include "base/clock.h"
#include "providers/sqlite/data_folder.h"
#include "providers/sqlite/sqlite_agent_store.h"
#include "providers/sqlite/sqlite_catalog_store.h"
#include "providers/sqlite/sqlite_chat_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/sqlite_edge_store.h"
#include "providers/sqlite/sqlite_event_sink.h"
#include "providers/sqlite/sqlite_job_store.h"
#include "providers/sqlite/sqlite_point_store.h"
#include "providers/sqlite/sqlite_project_store.h"
#include "providers/sqlite/sqlite_source_store.h"
#include "providers/sqlite/sqlite_store.h"
#include "providers/sqlite/sqlite_webhook_store.h"

namespace footnote::upkeep {

/// File in the data folder with the time of its last use, in milliseconds since 1970.
inline constexpr std::string_view kClockFile = "clock";
inline constexpr std::chrono::hours kClockMarkMax{24};

/// The clock mark of a data folder, if it exists and is valid at `now`.
UtcTime clock_mark(const std::filesystem::path& folder, UtcTime now);

/// The data folder and all stores in it. Thread-safe, like its parts.
class Stores {
 public:
  /// Errors of SqliteStore::open; kNotFound: no workspace of that name. Time starts no earlier than the folder's clock mark, unless the
  /// mark is more than kClockMarkMax ahead: then it came from a wrong clock and is ignored.
  static Result<std::unique_ptr<Stores>> open(const CallContext& call, DataFolder folder, std::string_view workspace,
                                              const SqliteStoreOptions& options = {});

  DataFolder& folder() { return folder_; }
  SqliteStore& store() { return *store_; }
  SqliteChunkStore& chunks() { return chunks_; }
  SqliteCatalogStore& catalog() { return catalog_; }
  SqliteConversationStore& conversations() { return conversations_; }
  SqliteChatStore& chats() { return chats_; }
  SqliteEdgeStore& edges() { return edges_; }
  SqliteEventSink& events() { return events_; }
  SqlitePointStore& points() { return points_; }
  SqliteAgentStore& agents() { return agents_; }
  SqliteWebhookStore& webhooks() { return webhooks_; }
  SqliteJobStore& jobs() { return jobs_; }
  SqliteSourceStore& sources() { return sources_; }
  SqliteProjectStore& projects() { return projects_; }
  /// Never goes back, neither within a process nor across restarts, provided that mark_clock() is called regularly.
  const Clock& clock() const { return *clock_; }
  /// Writes the current time to the data folder.
  Result<void> mark_clock() const;
  /// The workspace named in open().
  WorkspaceId workspace() const { return workspace_; }

 private:
  Stores(DataFolder folder, std::unique_ptr<SystemClock> wall, std::unique_ptr<ForwardClock> clock, std::unique_ptr<SqliteStore> store)
      : folder_(std::move(folder)),
        wall_(std::move(wall)),
        clock_(std::move(clock)),
        store_(std::move(store)),
        chunks_(*store_),
        catalog_(*store_),
        conversations_(*store_),
        chats_(*store_),
        edges_(*store_),
        events_(*store_),
        points_(*store_),
        agents_(*store_),
        webhooks_(*store_),
        jobs_(*store_),
        sources_(*store_),
        projects_(*store_) {}

  // Order matters: the folder's lock is released last.
  DataFolder folder_;
  std::unique_ptr<SystemClock> wall_;
  std::unique_ptr<ForwardClock> clock_;
  std::unique_ptr<SqliteStore> store_;
  SqliteChunkStore chunks_;
  SqliteCatalogStore catalog_;
  SqliteConversationStore conversations_;
  SqliteChatStore chats_;
  SqliteEdgeStore edges_;
  SqliteEventSink events_;
  SqlitePointStore points_;
  SqliteAgentStore agents_;
  SqliteWebhookStore webhooks_;
  SqliteJobStore jobs_;
  SqliteSourceStore sources_;
  SqliteProjectStore projects_;
  WorkspaceId workspace_;
};

/// The corpora of every workspace.
Result<std::vector<Corpus>> all_corpora(const CallContext& call, const CatalogStore& catalog);

}  // namespace footnote::upkeep
