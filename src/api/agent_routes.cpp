#include "api/agent_routes.h"

#include "answer/agent_setup.h"
#include "api/agent_wire.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kNameBytesMax = 4 * kAgentNameCharsMax;
constexpr std::int64_t kVersionMax = 1'000'000'000;

AgentId id_of(const http::Request& request) { return {std::string(request.param("id"))}; }

Result<http::Response> list(const AgentServices& services, const Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto agents, services.agents.agents(call, caller.workspace));
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  JsonArray out;
  for (const Agent& agent : agents) out.push_back(render_agent(agent, corpora));
  return http::Response::json(200, JsonObject{{"agents", std::move(out)}});
}

Result<http::Response> create(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"name", "settings"}));
  FOOTNOTE_TRY(const std::string name, reader.required_string("name", kNameBytesMax));
  AgentSettings settings;
  settings.persona.name = name;
  FOOTNOTE_TRY(auto corpora, services.catalog.corpora(call, caller.workspace));
  if (reader.has("settings")) FOOTNOTE_CHECK(read_agent_settings(body.at("settings"), corpora, settings));
  FOOTNOTE_TRY(const Agent agent, answer::make_agent(call, services.agents, services.catalog, services.embedder.space(), caller.workspace,
                                                     name, std::move(settings)));
  FOOTNOTE_TRY(corpora, services.catalog.corpora(call, caller.workspace));
  return http::Response::json(201, render_agent(agent, corpora));
}

Result<http::Response> show(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent agent, services.agents.agent(call, caller.workspace, id_of(request)));
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  return http::Response::json(200, render_agent(agent, corpora));
}

Result<http::Response> change(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const Agent before, services.agents.agent(call, caller.workspace, id_of(request)));
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"name", "settings"}));
  FOOTNOTE_TRY(const auto name, reader.optional_string("name", kNameBytesMax));
  AgentSettings settings = before.draft;
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  if (reader.has("settings")) FOOTNOTE_CHECK(read_agent_settings(body.at("settings"), corpora, settings));
  FOOTNOTE_TRY(const Agent after, services.agents.save_draft(call, caller.workspace, before.id, name.value_or(before.name), settings));
  return http::Response::json(200, render_agent(after, corpora));
}

Result<http::Response> remove(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_CHECK(services.agents.remove_agent(call, caller.workspace, id_of(request)));
  return http::Response::json(200, JsonObject{{"id", request.param("id")}, {"deleted", true}});
}

Result<http::Response> publish(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const PublishedAgent version, services.agents.publish(call, caller.workspace, id_of(request)));
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  return http::Response::json(201, render_version(version, corpora));
}

Result<http::Response> versions(const AgentServices& services, const Caller& caller, const http::Request& request,
                                const CallContext& call) {
  FOOTNOTE_TRY(const auto all, services.agents.versions(call, caller.workspace, id_of(request)));
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  JsonArray out;
  for (const PublishedAgent& version : all) out.push_back(render_version(version, corpora));
  return http::Response::json(200, JsonObject{{"versions", std::move(out)}});
}

Result<http::Response> roll_back(const AgentServices& services, const Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"version"}));
  FOOTNOTE_TRY(const auto version, reader.optional_integer("version", 1, kVersionMax));
  if (!version) return fail_field(ErrorCode::kInvalidArgument, "version", "'version' is required: the version to restore");
  FOOTNOTE_TRY(const PublishedAgent made, services.agents.roll_back(call, caller.workspace, id_of(request), static_cast<int>(*version)));
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  return http::Response::json(201, render_version(made, corpora));
}

}  // namespace

std::vector<Route> make_agent_routes(const AgentServices& services) {
  using http::Method;
  const Access admin = Access::with(KeyScope::kAdmin);
  return {
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/agents",
       .handler = bind(services, list),
       .summary = "The workspace's agents"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/agents",
       .handler = bind(services, create),
       .summary = "Create an agent; it gets its own corpus unless it names others"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/agents/{id}",
       .handler = bind(services, show),
       .summary = "An agent and its draft"},
      {.access = admin,
       .method = Method::kPatch,
       .pattern = "/api/admin/agents/{id}",
       .handler = bind(services, change),
       .summary = "Change an agent's name or draft; visitors see it when it is published"},
      {.access = admin,
       .method = Method::kDelete,
       .pattern = "/api/admin/agents/{id}",
       .handler = bind(services, remove),
       .summary = "Remove an agent with its versions and curated answers"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/agents/{id}/publish",
       .handler = bind(services, publish),
       .summary = "Publish the draft as the next version, which visitors get"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/agents/{id}/versions",
       .handler = bind(services, versions),
       .summary = "Every version of an agent, newest first"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/agents/{id}/rollback",
       .handler = bind(services, roll_back),
       .summary = "Publish an old version's settings again"},
  };
}

}  // namespace footnote::api
