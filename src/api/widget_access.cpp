#include "api/widget_access.h"

#include "api/authentication.h"
#include "base/log.h"
#include "base/text.h"
#include "http/forwarded.h"

namespace footnote::api::widget {

WidgetRefusal refused(int status, std::string_view code, std::string message) { return WidgetRefusal({status, code, std::move(message)}); }

WidgetRefusal unreadable(const Error& error) { return refused(422, "invalid_request", error.message); }

WidgetRefusal failed(const Error& error, const CallContext& call) {
  log(LogLevel::kError, "answer", "a visitor's request failed", call, {{"code", to_string(error.code)}, {"error", error.message}});
  return refused(503, "overloaded", "Please try again in a moment.");
}

void allow_origin(const http::Request& request, http::Headers& headers) {
  if (const auto origin = request.headers.find("origin")) {
    headers.set("access-control-allow-origin", *origin);
    headers.set("access-control-expose-headers", "retry-after, x-request-id");
  }
}

http::Response with_origin(const http::Request& request, http::Response response) {
  allow_origin(request, response.headers);
  return response;
}

http::Response answer_refusal(const http::Request& request, const WidgetError& error, std::optional<std::chrono::seconds> wait) {
  http::Response response = render(error);
  if (error.status == 429 || error.status == 503) response.headers.set("retry-after", std::to_string(wait ? wait->count() : 1));
  if (error.status == 401) response.headers.set("www-authenticate", "Bearer realm=\"footnote\"");
  return error.status == 403 ? response : with_origin(request, std::move(response));
}

WidgetResult<PublishedAgent> draft_of(const WidgetServices& services, const CallContext& call, WorkspaceId workspace, const AgentId& id) {
  auto agent = services.agents.agent(call, workspace, id);
  if (!agent) {
    if (agent.error().code == ErrorCode::kNotFound) return refused(404, "agent_not_found", "there is no such agent");
    return failed(agent.error(), call);
  }
  return PublishedAgent{.id = agent->id,
                        .workspace = agent->workspace,
                        .name = agent->name,
                        .version = 0,
                        .settings = std::move(agent->draft),
                        .published_at = agent->updated_at};
}

WidgetResult<PublishedAgent> published(const WidgetServices& services, const CallContext& call, const AgentId& id) {
  auto agent = services.agents.published(call, id);
  if (agent) return *std::move(agent);
  if (agent.error().code == ErrorCode::kNotFound) return refused(404, "agent_not_found", "there is no such agent");
  return failed(agent.error(), call);
}

bool may_use(const PublishedAgent& agent, std::string_view origin, const http::Request& request, bool playground) {
  const std::string_view host = request.headers.find("host").value_or("");
  return is_allowed_origin(agent.settings.allowed_origins, origin, host) || (playground && is_allowed_origin({}, origin, host));
}

WidgetResult<VisitorClaims> claims_of(const WidgetServices& services, const http::Request& request) {
  const std::string_view token = bearer_token(request.headers).value_or("");
  if (token.empty()) return refused(401, "missing_token", "send the token of init as authorization: Bearer ...");
  auto claims = services.door.tokens.check(token, services.clock.now());
  if (!claims) return refused(401, "invalid_token", claims.error().message);
  // Browsers send Origin with every cross-origin request; without it there is no other page to check.
  const auto origin = request.headers.find("origin");
  if (origin && to_lower_ascii(*origin) != claims->origin) return refused(403, "origin_forbidden", "the token belongs to another origin");
  return *std::move(claims);
}

WidgetResult<Visitor> visitor_of(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  auto claims = claims_of(services, request);
  if (!claims) return WidgetRefusal(claims.error());
  auto agent = claims->playground ? draft_of(services, call, claims->workspace, claims->agent) : published(services, call, claims->agent);
  if (!agent) return WidgetRefusal(agent.error());
  if (agent->workspace != claims->workspace) return refused(404, "agent_not_found", "there is no such agent");
  if (!may_use(*agent, claims->origin, request, claims->playground)) {
    return refused(403, "origin_forbidden", "this page may not use the agent any more");
  }
  return Visitor{*std::move(claims), *std::move(agent)};
}

WidgetResult<Share> share_of(const WidgetServices& services, const http::Request& request, const VisitorId& visitor) {
  auto of_visitor = services.door.of_visitor.enter(visitor.value);
  auto of_address = services.door.of_address.enter(http::client_network(request.remote_address));
  if (!of_visitor || !of_address) return refused(429, "message_quota_exceeded", "too many answers at once; try again in a moment");
  return Share{*std::move(of_visitor), *std::move(of_address)};
}

}  // namespace footnote::api::widget
