#include "answer/visitor_texts.h"
#include "api/authentication.h"
#include "api/kb_wire.h"
#include "api/widget_access.h"
#include "api/widget_handlers.h"
#include "base/ids.h"
#include "base/text.h"
#include "http/forwarded.h"

namespace footnote::api::widget {

namespace {

WidgetResult<PublishedAgent> agent_to_open(const WidgetServices& services, const http::Request& request, const CallContext& call,
                                           const InitRequest& asked) {
  if (!asked.playground) return published(services, call, asked.agent);
  const auto admitted = services.keys.admit(bearer_token(request.headers).value_or(""));
  if (!admitted && services.keys.is_open()) return draft_of(services, call, services.home, asked.agent);
  if (!admitted || !admitted->caller.may(KeyScope::kAdmin))
    return refused(401, "invalid_token", "the playground needs the key of an admin");
  return draft_of(services, call, admitted->caller.workspace, asked.agent);
}

/// The visitor of an earlier token for the same agent and origin, or a new one.
VisitorClaims claims_for(const WidgetServices& services, const PublishedAgent& agent, const InitRequest& asked, std::string_view origin) {
  const UtcTime now = services.clock.now();
  VisitorClaims claims{.origin = to_lower_ascii(origin),
                       .workspace = agent.workspace,
                       .agent = agent.id,
                       .visitor = {"vis_" + random_base62(22)},
                       .conversation = {"conv_" + random_base62(22)},
                       .locale = asked.locale,
                       .playground = asked.playground,
                       .issued_at = now,
                       .expires_at = now + kVisitorTokenTime};
  const auto before = services.door.tokens.check_for_resume(asked.token, now);
  const bool is_same = before && before->agent == agent.id && before->workspace == agent.workspace && before->origin == claims.origin &&
                       before->playground == asked.playground;
  if (is_same) {
    claims.visitor = before->visitor;
    claims.conversation = before->conversation;
  }
  return claims;
}

WidgetResult<JsonObject> open_conversation(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  const auto asked = parse_init(request);
  if (!asked) return unreadable(asked.error());
  const auto agent = agent_to_open(services, request, call, *asked);
  if (!agent) return WidgetRefusal(agent.error());
  const std::string_view origin = request.headers.find("origin").value_or("");
  if (!may_use(*agent, origin, request, asked->playground)) {
    return refused(403, "origin_forbidden", "this page may not use the agent: add its origin to the agent's allowed origins");
  }
  const VisitorClaims claims = claims_for(services, *agent, *asked, origin);
  auto turns = services.conversations.history(call, agent->workspace, claims.conversation, kResumedTurnsMax);
  // A conversation exists only from its first turn on.
  if (!turns && turns.error().code == ErrorCode::kNotFound) turns = std::vector<Turn>{};
  if (!turns) return failed(turns.error(), call);
  CitedTexts texts(call, services.chunks, agent->workspace);
  const std::string language = answer::visitor_language({.agent = agent->settings.language_default,
                                                         .locale = asked->locale,
                                                         .accept_language = request.headers.find("accept-language").value_or("")});
  return JsonObject{
      {"conversation_id", claims.conversation.value},
      {"visitor_id", claims.visitor.value},
      {"token", services.door.tokens.issue(claims)},
      {"expires_at", to_rfc3339(claims.expires_at)},
      {"agent", render_agent(*agent, language)},
      {"limits", JsonObject{{"message_chars_max", kVisitorMessageCharsMax}, {"page_context_bytes_max", answer::kPageContextBytesMax}}},
      {"messages", render_messages(*turns, texts)}};
}

}  // namespace

http::Response open_widget(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  if (const auto asked = parse_init(request)) {
    if (const auto wait =
            services.door.inits.count(http::client_network(request.remote_address) + " " + asked->agent.value, services.clock.now())) {
      return answer_refusal(request, {429, "message_quota_exceeded", "too many conversations were opened; try again later"}, wait);
    }
  }
  auto opened = open_conversation(services, request, call);
  if (!opened) return answer_refusal(request, opened.error());
  return with_origin(request, http::Response::json(200, *std::move(opened)));
}

}  // namespace footnote::api::widget
