#pragma once

#include <functional>
#include <string>
#include <vector>

#include "access/keys.h"
#include "answer/answer_service.h"
#include "api/agent_services.h"
#include "api/calibrate_routes.h"
#include "api/check_routes.h"
#include "api/document_routes.h"
#include "api/error_mapping.h"
#include "api/job_routes.h"
#include "api/kb_conversation.h"
#include "api/project_routes.h"
#include "api/proxy_routes.h"
#include "api/qdrant_routes.h"
#include "api/rebuild_routes.h"
#include "api/route.h"
#include "api/snapshot_routes.h"
#include "api/source_routes.h"
#include "api/upload_routes.h"
#include "api/web_routes.h"
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

/// Dependencies of the APIs. Everything is borrowed and outlives the routes.
struct Services {
  const answer::AnswerService& answers;
  const retrieve::Retriever& retriever;
  const retrieve::AskedCorpora& corpora;
  ingest::Ingestor& ingestor;
  CatalogStore& catalog;
  const ChunkReader& chunks;
  const ConversationStore& conversations;
  Embedder& embedder;
  Reranker* reranker;  ///< Null if none is configured.
  PointServices points;
  points::Memories& memories;
  access::Keys& keys;
  Metrics& metrics;
  const Clock& clock;
  WorkspaceId home;  ///< The default workspace: that of callers without a key, as long as no keys exist.
  std::string version;
  /// Returns the reasons why the server is not ready; empty: ready.
  std::function<std::vector<std::string>()> not_ready_reasons;
  /// Updates gauges that are polled, not counted; called before /metrics is rendered. May be empty.
  std::function<void(const CallContext&)> refresh_metrics;
  ingest::Secrets secrets = ingest::Secrets::kKeepOut;  ///< Used by ingest calls that do not set it.
  ingest::Originals originals = ingest::Originals::kDrop;
  /// Questions suggested on the start page.
  std::vector<std::string> example_questions;
  /// The command shown while nothing is ingested.
  std::string ingest_command = "footnote ingest ./docs";
  IndexRebuilds* rebuilds = nullptr;                  ///< Null: not offered.
  CheckStore check_store = {};                        ///< Empty: not offered.
  std::optional<CalibrateServices> calibration = {};  ///< Empty: not offered.
  std::optional<ProxyServices> proxy = {};            ///< Empty: not offered.
  CopyStore copy_store = {};                          ///< Empty: no snapshots are offered.
  std::optional<AgentServices> agents = {};           ///< Empty: not offered.
  std::optional<WidgetServices> widget = {};          ///< Empty: no visitor API.
  Profile kb_profile = kKnowledgeBaseProfile;         ///< Of knowledge-base questions.
  bool mentions_boost = false;                        ///< filters.doc_ids prefers documents instead of excluding others.
  std::optional<ConversationServices> chats = {};     ///< Empty: questions belong to no conversation.
  std::optional<JobServices> jobs = {};               ///< Empty: no background jobs.
  std::optional<SourceServices> sources = {};         ///< Empty: not offered.
  std::optional<UploadServices> uploads = {};         ///< Empty: not offered.
  std::optional<ProjectServices> projects = {};       ///< Empty: no project memory.
  std::optional<WebServices> web = {};                ///< Empty: no pages are fetched.
  AgentId demo_agent = {};                            ///< Shown on the demonstration shop's pages. Empty: no shop.
};

/// All routes of the server in one table, which /openapi.json is also generated from. Copies `services`.
std::vector<Route> route_table(const Services& services);

/// The table for the server, each route behind the access check.
std::vector<http::Route> make_routes(const Services& services);

}  // namespace footnote::api
