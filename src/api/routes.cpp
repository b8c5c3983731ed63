#include "api/routes.h"

#include <algorithm>
#include <iterator>

#include "api/admin_routes.h"
#include "api/agent_routes.h"
#include "api/app_routes.h"
#include "api/authentication.h"
#include "api/conversation_routes.h"
#include "api/curated_routes.h"
#include "api/edge_routes.h"
#include "api/embed_routes.h"
#include "api/kb_feedback_routes.h"
#include "api/kb_routes.h"
#include "api/library_routes.h"
#include "api/mcp_server.h"
#include "api/memory_routes.h"
#include "api/ops_routes.h"
#include "api/page_routes.h"
#include "api/rerank_routes.h"
#include "api/session_routes.h"
#include "api/visitor_admin_routes.h"
#include "api/webhook_routes.h"
#include "api/widget_script.h"

namespace footnote::api {

namespace {

AuthServices auth_services(const Services& services) { return {services.keys, services.catalog, services.home, services.metrics}; }

}  // namespace

std::vector<Route> route_table(const Services& services) {
  std::vector<Route> routes = make_kb_routes(services);
  for (auto more :
       {make_embed_routes({services.embedder, services.version}), make_rerank_routes({services.reranker}),
        make_admin_routes({services.keys, services.catalog}),
        make_library_routes({services.catalog, services.chunks, services.conversations}), make_page_routes(services),
        make_document_routes(
            {services.ingestor, services.catalog, services.chunks, {.secrets = services.secrets, .originals = services.originals}}),
        make_ops_routes(services), make_qdrant_routes(services.points), make_memory_routes(services.memories, services.clock),
        make_widget_script_routes(), make_app_routes(), make_session_routes(auth_services(services))}) {
    std::ranges::move(more, std::back_inserter(routes));
  }
  if (services.demo_agent) std::ranges::move(make_demo_shop_routes(services.demo_agent), std::back_inserter(routes));
  if (services.rebuilds != nullptr) std::ranges::move(make_rebuild_routes(*services.rebuilds), std::back_inserter(routes));
  if (services.check_store) std::ranges::move(make_check_routes(services.check_store), std::back_inserter(routes));
  if (services.calibration) std::ranges::move(make_calibrate_routes(*services.calibration), std::back_inserter(routes));
  if (services.proxy) std::ranges::move(make_proxy_routes(*services.proxy), std::back_inserter(routes));
  if (services.chats) {
    for (auto more :
         {make_conversation_routes(*services.chats), make_kb_feedback_routes(*services.chats), make_edge_routes(*services.chats)}) {
      std::ranges::move(more, std::back_inserter(routes));
    }
  }
  if (services.widget) std::ranges::move(make_widget_routes(*services.widget), std::back_inserter(routes));
  if (services.projects) {
    std::ranges::move(make_project_routes(*services.projects), std::back_inserter(routes));
    std::ranges::move(make_mcp_routes({*services.projects, services.memories, services.version}), std::back_inserter(routes));
  }
  if (services.web) std::ranges::move(make_web_routes(*services.web), std::back_inserter(routes));
  if (services.copy_store) std::ranges::move(make_snapshot_routes(services.copy_store), std::back_inserter(routes));
  if (services.jobs) std::ranges::move(make_job_routes(*services.jobs), std::back_inserter(routes));
  if (services.sources) std::ranges::move(make_source_routes(*services.sources), std::back_inserter(routes));
  if (services.uploads) std::ranges::move(make_upload_routes(*services.uploads), std::back_inserter(routes));
  if (services.agents) {
    for (auto more : {make_agent_routes(*services.agents), make_curated_routes(*services.agents),
                      make_visitor_admin_routes(*services.agents), make_webhook_routes(*services.agents)}) {
      std::ranges::move(more, std::back_inserter(routes));
    }
  }
  routes.push_back(make_openapi_route(routes, services.version));
  return routes;
}

std::vector<http::Route> make_routes(const Services& services) {
  const AuthServices auth = auth_services(services);
  std::vector<http::Route> out;
  for (Route& route : route_table(services)) out.push_back(guarded(auth, std::move(route)));
  return out;
}

}  // namespace footnote::api
