#pragma once

#include "api/widget_routes.h"

namespace footnote::api::widget {

/// POST /init: opens or resumes a conversation.
http::Response open_widget(const WidgetServices& services, const http::Request& request, const CallContext& call);

/// POST /messages: the whole answer.
http::Response answer_message(const WidgetServices& services, const http::Request& request, const CallContext& call);
/// POST /messages/stream: the answer as events. The turn continues when the first reader leaves: another may resume.
void stream_message(const WidgetServices& services, const http::Request& request, const CallContext& call, http::ResponseStream& response);
/// GET /messages/{id}/stream: the events after Last-Event-ID.
void resume_stream(const WidgetServices& services, const http::Request& request, const CallContext& call, http::ResponseStream& response);
/// POST /messages/{id}/stop.
http::Response stop_message(const WidgetServices& services, const http::Request& request, const CallContext& call);

}  // namespace footnote::api::widget
