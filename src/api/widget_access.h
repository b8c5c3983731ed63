#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "api/under_way.h"
#include "api/widget_routes.h"
#include "api/widget_wire.h"

namespace footnote::api::widget {

/// A value, or the error that the client gets.
template <class Value>
using WidgetResult = std::expected<Value, WidgetError>;
using WidgetRefusal = std::unexpected<WidgetError>;

WidgetRefusal refused(int status, std::string_view code, std::string message);
/// Of a request that can't be read.
WidgetRefusal unreadable(const Error& error);
/// Of a store that did not answer; its words are for the log.
WidgetRefusal failed(const Error& error, const CallContext& call);

/// The page may read the answer. No credentials: what counts is the token.
void allow_origin(const http::Request& request, http::Headers& headers);
http::Response with_origin(const http::Request& request, http::Response response);
/// A page of an origin that may not use the agent can't read that it may not either.
http::Response answer_refusal(const http::Request& request, const WidgetError& error, std::optional<std::chrono::seconds> wait = {});

/// The token of "authorization: Bearer"; empty: there is none.
std::string_view bearer_of(const http::Request& request);

/// The draft, as if it were published, for whoever has the key of an admin.
WidgetResult<PublishedAgent> draft_of(const WidgetServices& services, const CallContext& call, WorkspaceId workspace, const AgentId& id);
WidgetResult<PublishedAgent> published(const WidgetServices& services, const CallContext& call, const AgentId& id);
/// Whether a page of that origin may use the agent. The playground is the owner's own page.
bool may_use(const PublishedAgent& agent, std::string_view origin, const http::Request& request, bool playground);

/// What the request's token says.
WidgetResult<VisitorClaims> claims_of(const WidgetServices& services, const http::Request& request);

/// Whoever sends a message, let in.
struct Visitor {
  VisitorClaims claims;
  PublishedAgent agent;
};
WidgetResult<Visitor> visitor_of(const WidgetServices& services, const http::Request& request, const CallContext& call);

/// What one answer takes of its visitor's and its address's share, as long as it is written or read.
struct Share {
  UnderWay::Place of_visitor;
  UnderWay::Place of_address;
};

WidgetResult<Share> share_of(const WidgetServices& services, const http::Request& request, const VisitorId& visitor);

}  // namespace footnote::api::widget
