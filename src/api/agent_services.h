#pragma once

#include "api/route.h"
#include "base/text.h"
#include "ports/agent_store.h"
#include "ports/cache.h"
#include "ports/catalog_store.h"
#include "ports/conversation_store.h"
#include "ports/embedder.h"
#include "ports/webhook_store.h"

namespace footnote::api {

/// Dependencies of the routes that manage agents and their visitors' data. Borrowed.
struct AgentServices {
  AgentStore& agents;
  ConversationStore& conversations;
  WebhookStore& webhooks;
  CatalogStore& catalog;
  Embedder& embedder;  ///< New agents' corpora are created in its space.
  Cache& cache;        ///< Caches data about visitors.
};

/// The agent named by `?agent_id=` in the caller's workspace. kInvalidArgument: agent_id is missing. kNotFound.
inline Result<Agent> asked_agent(const AgentServices& services, const access::Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  const auto id = request.query_value("agent_id");
  if (!id) return fail_field(ErrorCode::kInvalidArgument, "agent_id", "name the agent: ?agent_id=agt_...");
  return services.agents.agent(call, caller.workspace, {std::string(*id)});
}

/// The number in the path; kNotFound if it is not a number.
inline Result<std::int64_t> id_in_path(const http::Request& request, std::string_view what) {
  const auto id = parse_whole_number(request.param("id"));
  if (!id) return fail(ErrorCode::kNotFound, "there is no {} {}", what, request.param("id"));
  return *id;
}

/// `?name=` as a number; `missing` if absent.
inline Result<std::size_t> number_in_query(const http::Request& request, std::string_view name, std::size_t missing, std::size_t max) {
  const auto text = request.query_value(name);
  if (!text) return missing;
  const auto number = parse_whole_number(*text);
  if (!number || *number < 1 || *number > static_cast<std::int64_t>(max)) {
    return fail_field(ErrorCode::kInvalidArgument, name, "'{}' is a number from 1 to {}", name, max);
  }
  return static_cast<std::size_t>(*number);
}

}  // namespace footnote::api
