// Contract suites for the SQLite stores; that of the chunk store is in sqlite_chunk_store_test.cpp.
#include "contracts/agent_store_contract.h"
#include "contracts/catalog_store_contract.h"
#include "contracts/chat_store_contract.h"
#include "contracts/conversation_store_contract.h"
#include "contracts/edge_store_contract.h"
#include "contracts/event_sink_contract.h"
#include "contracts/job_store_contract.h"
#include "contracts/point_store_contract.h"
#include "contracts/project_store_contract.h"
#include "contracts/source_store_contract.h"
#include "contracts/webhook_store_contract.h"
#include "providers/sqlite/sqlite_agent_store.h"
#include "providers/sqlite/sqlite_chat_store.h"
#include "providers/sqlite/sqlite_chunk_store.h"
#include "providers/sqlite/sqlite_conversation_store.h"
#include "providers/sqlite/sqlite_edge_store.h"
#include "providers/sqlite/sqlite_event_sink.h"
#include "providers/sqlite/sqlite_job_store.h"
#include "providers/sqlite/sqlite_point_store.h"
#include "providers/sqlite/sqlite_project_store.h"
#include "providers/sqlite/sqlite_source_store.h"
#include "providers/sqlite/sqlite_webhook_store.h"
#include "providers/sqlite/store_for_test.h"

namespace footnote::contract {
namespace {

/// Shared by the harnesses.
struct Stores {
  const sql::FolderForTest folder;
  ManualClock clock{kTestStart};
  std::unique_ptr<SqliteStore> store = SqliteStore::open(folder.path(), {}, clock).value();
  SqliteCatalogStore catalog{*store};
  SqliteConversationStore conversations{*store};
  SqliteEventSink events{*store};

  WorkspaceId other_workspace() { return catalog.add_workspace({}, "other").value().id; }
};

class SqliteCatalogHarness final : public CatalogStoreHarness {
 public:
  CatalogStore& catalog() override { return stores_.catalog; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
};

class SqliteConversationHarness final : public ConversationStoreHarness {
 public:
  ConversationStore& conversations() override { return stores_.conversations; }
  CatalogStore& catalog() override { return stores_.catalog; }
  ManualClock& clock() override { return stores_.clock; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }
  std::vector<Event> events(WorkspaceId workspace, CorpusId corpus) override {
    return stores_.events.after({}, workspace, corpus, {}, 1000).value();
  }

 private:
  Stores stores_;
};

class SqliteChatHarness final : public ChatStoreHarness {
 public:
  ChatStore& chats() override { return chats_; }
  ConversationStore& conversations() override { return stores_.conversations; }
  CatalogStore& catalog() override { return stores_.catalog; }
  ManualClock& clock() override { return stores_.clock; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqliteChatStore chats_{*stores_.store};
};

class SqliteEdgeHarness final : public EdgeStoreHarness {
 public:
  EdgeStore& edges() override { return edges_; }
  ChunkStore& chunks() override { return chunks_; }
  CatalogStore& catalog() override { return stores_.catalog; }

 private:
  Stores stores_;
  SqliteEdgeStore edges_{*stores_.store};
  SqliteChunkStore chunks_{*stores_.store};
};

class SqliteAgentHarness final : public AgentStoreHarness {
 public:
  AgentStore& agents() override { return agents_; }
  CatalogStore& catalog() override { return stores_.catalog; }
  ManualClock& clock() override { return stores_.clock; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqliteAgentStore agents_{*stores_.store};
};

class SqliteWebhookHarness final : public WebhookStoreHarness {
 public:
  WebhookStore& webhooks() override { return webhooks_; }
  ConversationStore& conversations() override { return stores_.conversations; }
  CatalogStore& catalog() override { return stores_.catalog; }
  ManualClock& clock() override { return stores_.clock; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqliteWebhookStore webhooks_{*stores_.store};
};

class SqliteJobHarness final : public JobStoreHarness {
 public:
  JobStore& jobs() override { return jobs_; }
  CatalogStore& catalog() override { return stores_.catalog; }
  ManualClock& clock() override { return stores_.clock; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqliteJobStore jobs_{*stores_.store};
};

class SqliteSourceHarness final : public SourceStoreHarness {
 public:
  ~SqliteSourceHarness() override {
    // After every test the store must be consistent.
    const auto findings = stores_.store->check({});
    EXPECT_TRUE(findings && findings->empty()) << (findings ? findings->front().detail : findings.error().message);
  }
  SourceStore& sources() override { return sources_; }
  JobStore& jobs() override { return jobs_; }
  ChunkStore& chunks() override { return chunks_; }
  CatalogStore& catalog() override { return stores_.catalog; }
  ManualClock& clock() override { return stores_.clock; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqliteSourceStore sources_{*stores_.store};
  SqliteJobStore jobs_{*stores_.store};
  SqliteChunkStore chunks_{*stores_.store};
};

class SqliteEventHarness final : public EventSinkHarness {
 public:
  EventSink& sink() override { return stores_.events; }
  CatalogStore& catalog() override { return stores_.catalog; }
  std::vector<Event> events(WorkspaceId workspace, CorpusId corpus) override {
    return stores_.events.after({}, workspace, corpus, {}, 1000).value();
  }

 private:
  Stores stores_;
};

class SqlitePointHarness final : public PointStoreHarness {
 public:
  ~SqlitePointHarness() override {
    // After every test the store must be consistent.
    const auto findings = stores_.store->check({});
    EXPECT_TRUE(findings && findings->empty()) << (findings ? findings->front().detail : findings.error().message);
  }
  PointStore& points() override { return points_; }
  ChunkStore& chunks() override { return chunks_; }
  CatalogStore& catalog() override { return stores_.catalog; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqlitePointStore points_{*stores_.store};
  SqliteChunkStore chunks_{*stores_.store};
};

class SqliteProjectHarness final : public ProjectStoreHarness {
 public:
  ProjectStore& projects() override { return projects_; }
  WorkspaceId workspace() override { return stores_.catalog.find_workspace({}, kDefaultWorkspace)->id; }
  WorkspaceId other_workspace() override { return stores_.other_workspace(); }

 private:
  Stores stores_;
  SqliteProjectStore projects_{*stores_.store};
};

INSTANTIATE_TEST_SUITE_P(Sqlite, ProjectStoreContract,
                         ::testing::Values(ProjectStoreCase{"sqlite", [] { return std::make_unique<SqliteProjectHarness>(); }}),
                         project_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, PointStoreContract,
                         ::testing::Values(PointStoreCase{"sqlite", [] { return std::make_unique<SqlitePointHarness>(); }}),
                         point_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogStoreContract,
                         ::testing::Values(CatalogStoreCase{"sqlite", [] { return std::make_unique<SqliteCatalogHarness>(); }}),
                         catalog_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ConversationStoreContract,
                         ::testing::Values(ConversationStoreCase{"sqlite", [] { return std::make_unique<SqliteConversationHarness>(); }}),
                         conversation_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ChatStoreContract,
                         ::testing::Values(ChatStoreCase{"sqlite", [] { return std::make_unique<SqliteChatHarness>(); }}),
                         chat_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, EdgeStoreContract,
                         ::testing::Values(EdgeStoreCase{"sqlite", [] { return std::make_unique<SqliteEdgeHarness>(); }}),
                         edge_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, VisitorTurnsContract,
                         ::testing::Values(ConversationStoreCase{"sqlite", [] { return std::make_unique<SqliteConversationHarness>(); }}),
                         conversation_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, AgentStoreContract,
                         ::testing::Values(AgentStoreCase{"sqlite", [] { return std::make_unique<SqliteAgentHarness>(); }}),
                         agent_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, WebhookStoreContract,
                         ::testing::Values(WebhookStoreCase{"sqlite", [] { return std::make_unique<SqliteWebhookHarness>(); }}),
                         webhook_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, JobStoreContract,
                         ::testing::Values(JobStoreCase{"sqlite", [] { return std::make_unique<SqliteJobHarness>(); }}),
                         job_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SourceStoreContract,
                         ::testing::Values(SourceStoreCase{"sqlite", [] { return std::make_unique<SqliteSourceHarness>(); }}),
                         source_store_case_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, EventSinkContract,
                         ::testing::Values(EventSinkCase{"sqlite", [] { return std::make_unique<SqliteEventHarness>(); }}),
                         event_sink_case_name);

}  // namespace
}  // namespace footnote::contract
