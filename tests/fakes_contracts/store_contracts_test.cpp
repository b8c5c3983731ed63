#include "contracts/agent_store_contract.h"
#include "contracts/catalog_store_contract.h"
#include "contracts/chat_store_contract.h"
#include "contracts/chunk_store_contract.h"
#include "contracts/conversation_store_contract.h"
#include "contracts/edge_store_contract.h"
#include "contracts/event_sink_contract.h"
#include "contracts/job_store_contract.h"
#include "contracts/point_store_contract.h"
#include "contracts/project_store_contract.h"
#include "contracts/source_store_contract.h"
#include "contracts/webhook_store_contract.h"
#include "fakes/memory_agent_store.h"
#include "fakes/memory_chat_store.h"
#include "fakes/memory_edge_store.h"
#include "fakes/memory_job_store.h"
#include "fakes/memory_project_store.h"
#include "fakes/memory_source_store.h"
#include "fakes/memory_store.h"
#include "fakes/memory_webhook_store.h"

namespace footnote::contract {
namespace {

/// MemoryStore in every role, and the other memory stores.
class MemoryStoreHarness final : public ChunkStoreHarness,
                                 public CatalogStoreHarness,
                                 public ConversationStoreHarness,
                                 public ChatStoreHarness,
                                 public EventSinkHarness,
                                 public EdgeStoreHarness,
                                 public PointStoreHarness,
                                 public AgentStoreHarness,
                                 public WebhookStoreHarness,
                                 public JobStoreHarness,
                                 public SourceStoreHarness {
 public:
  MemoryStoreHarness() { store_.tell_to(webhooks_); }
  AgentStore& agents() override { return agents_; }
  WebhookStore& webhooks() override { return webhooks_; }
  JobStore& jobs() override { return jobs_; }
  SourceStore& sources() override { return sources_; }
  ChunkStore& chunks() override { return store_; }
  CatalogStore& catalog() override { return store_; }
  ConversationStore& conversations() override { return store_; }
  ChatStore& chats() override { return chats_; }
  PointStore& points() override { return store_; }
  EdgeStore& edges() override { return edges_; }
  EventSink& sink() override { return store_; }
  ManualClock& clock() override { return clock_; }
  WorkspaceId other_workspace() override { return store_.add_workspace({}, "other")->id; }
  std::vector<Event> events(WorkspaceId workspace, CorpusId corpus) override {
    std::vector<Event> out = store_.all_events();
    std::erase_if(out, [&](const Event& event) { return event.workspace != workspace || event.corpus != corpus; });
    return out;
  }

 private:
  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  fakes::MemoryStore store_{clock_};
  fakes::MemoryChatStore chats_{store_};
  fakes::MemoryEdgeStore edges_{store_};
  fakes::MemoryAgentStore agents_{store_, clock_};
  fakes::MemoryWebhookStore webhooks_{clock_};
  fakes::MemoryJobStore jobs_{clock_};
  fakes::MemorySourceStore sources_{store_, &jobs_, clock_};
};

class MemoryProjectHarness final : public ProjectStoreHarness {
 public:
  ProjectStore& projects() override { return projects_; }
  WorkspaceId workspace() override { return {1}; }
  WorkspaceId other_workspace() override { return {2}; }

 private:
  ManualClock clock_{UtcTime{std::chrono::milliseconds{1'772'357'400'125}}};
  fakes::MemoryProjectStore projects_{clock_};
};

INSTANTIATE_TEST_SUITE_P(Fakes, ProjectStoreContract,
                         ::testing::Values(ProjectStoreCase{"memory", [] { return std::make_unique<MemoryProjectHarness>(); }}),
                         project_store_case_name);

std::unique_ptr<ChunkStoreHarness> make_chunk_store() { return std::make_unique<MemoryStoreHarness>(); }
std::unique_ptr<MemoryStoreHarness> make_store() { return std::make_unique<MemoryStoreHarness>(); }

INSTANTIATE_TEST_SUITE_P(Memory, ChunkStoreContract, ::testing::Values(&make_chunk_store));
INSTANTIATE_TEST_SUITE_P(Fakes, CatalogStoreContract, ::testing::Values(CatalogStoreCase{"memory", make_store}), catalog_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, ConversationStoreContract, ::testing::Values(ConversationStoreCase{"memory", make_store}),
                         conversation_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, ChatStoreContract, ::testing::Values(ChatStoreCase{"memory", make_store}), chat_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, VisitorTurnsContract, ::testing::Values(ConversationStoreCase{"memory", make_store}),
                         conversation_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, AgentStoreContract, ::testing::Values(AgentStoreCase{"memory", make_store}), agent_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, WebhookStoreContract, ::testing::Values(WebhookStoreCase{"memory", make_store}), webhook_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, JobStoreContract, ::testing::Values(JobStoreCase{"memory", make_store}), job_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, SourceStoreContract, ::testing::Values(SourceStoreCase{"memory", make_store}), source_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, EdgeStoreContract, ::testing::Values(EdgeStoreCase{"memory", make_store}), edge_store_case_name);
INSTANTIATE_TEST_SUITE_P(Fakes, EventSinkContract, ::testing::Values(EventSinkCase{"memory", make_store}), event_sink_case_name);

INSTANTIATE_TEST_SUITE_P(Fakes, PointStoreContract, ::testing::Values(PointStoreCase{"memory", make_store}), point_store_case_name);

}  // namespace
}  // namespace footnote::contract
