#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "api/concurrency_limit.h"
#include "api/widget_routes.h"
#include "api/widget_wire.h"

namespace footnote::api::widget {

/// A value, or the error sent to the client.
template <class Value>
using WidgetResult = std::expected<Value, WidgetError>;
using WidgetRefusal = std::unexpected<WidgetError>;

WidgetRefusal refused(int status, std::string_view code, std::string message);
/// The error response for a request that can't be parsed.
WidgetRefusal unreadable(const Error& error);
/// The error response for a store failure; the details are only logged.
WidgetRefusal failed(const Error& error, const CallContext& call);

/// Adds CORS headers, so that the page can read the response. No credentials: only the token counts.
void allow_origin(const http::Request& request, http::Headers& headers);
http::Response with_origin(const http::Request& request, http::Response response);
/// If the page's origin may not use the agent, it can't read the error response either.
http::Response answer_refusal(const http::Request& request, const WidgetError& error, std::optional<std::chrono::seconds> wait = {});

/// The draft as if it were published, for callers with an admin's key.
WidgetResult<PublishedAgent> draft_of(const WidgetServices& services, const CallContext& call, WorkspaceId workspace, const AgentId& id);
WidgetResult<PublishedAgent> published(const WidgetServices& services, const CallContext& call, const AgentId& id);
/// Whether a page of that origin may use the agent. The playground, the owner's own page, always may.
bool may_use(const PublishedAgent& agent, std::string_view origin, const http::Request& request, bool playground);

/// The claims of the request's token.
WidgetResult<VisitorClaims> claims_of(const WidgetServices& services, const http::Request& request);

/// An admitted visitor.
struct Visitor {
  VisitorClaims claims;
  PublishedAgent agent;
};
WidgetResult<Visitor> visitor_of(const WidgetServices& services, const http::Request& request, const CallContext& call);

/// The slots that one answer holds in the limits of its visitor and its address, while it is written or read.
struct Share {
  ConcurrencyLimit::Slot of_visitor;
  ConcurrencyLimit::Slot of_address;
};

WidgetResult<Share> share_of(const WidgetServices& services, const http::Request& request, const VisitorId& visitor);

}  // namespace footnote::api::widget
