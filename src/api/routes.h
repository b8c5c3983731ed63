#pragma once

#include <functional>
#include <string>
#include <vector>

#include "access/keys.h"
#include "answer/answer_service.h"
#include "api/agent_services.h"
#include "api/error_mapping.h"
#include "api/proxy_routes.h"
#include "api/qdrant_routes.h"
#include "api/rebuild_routes.h"
#include "api/route.h"
#include "api/snapshot_routes.h"
#include "api/widget_routes.h"
#include "base/metrics.h"
#include "http/router.h"
#include "ingest/ingestor.h"
#include "ports/catalog_store.h"
#include "ports/chunk_store.h"
#include "ports/reranker.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/retriever.h"

namespace footnote::api {

/// What the front doors need. Everything is borrowed and outlives the routes.
struct Services {
  const answer::AnswerService& answers;
  const retrieve::Retriever& retriever;
  const retrieve::AskedCorpora& corpora;
  ingest::Ingestor& ingestor;
  CatalogStore& catalog;
  const ChunkReader& chunks;
  const ConversationStore& conversations;
  Embedder& embedder;
  Reranker* reranker;  ///< Null while none is configured.
  PointServices points;
  points::Memories& memories;
  access::Keys& keys;
  Metrics& metrics;
  const Clock& clock;
  WorkspaceId home;  ///< The default workspace: the caller's, as long as there are no keys.
  std::string version;
  /// Empty when ready, else the reasons why not.
  std::function<std::vector<std::string>()> not_ready_reasons;
  /// Brings gauges up to date that are looked at rather than counted; called before /metrics is rendered. May be empty.
  std::function<void(const CallContext&)> refresh_metrics;
  /// Shown on the first page for people to try.
  std::vector<std::string> example_questions;
  IndexRebuilds* rebuilds = nullptr;          ///< Null: none are offered.
  std::optional<ProxyServices> proxy = {};    ///< Empty: it is not offered.
  CopyStore copy_store = {};                  ///< Empty: no snapshots are offered.
  std::optional<AgentServices> agents = {};   ///< Empty: no agents are offered.
  std::optional<WidgetServices> widget = {};  ///< Empty: there is no door for visitors.
  AgentId demo_agent = {};                    ///< On the pages of the demonstration shop. None: there is no shop.
};

/// Every route of the server, in one table; /openapi.json is made from the same table. Copies `services`.
std::vector<Route> route_table(const Services& services);

/// The table for the server, each row behind the door.
std::vector<http::Route> make_routes(const Services& services);

}  // namespace footnote::api
