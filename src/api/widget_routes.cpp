#include "api/widget_routes.h"

#include "api/widget_access.h"
#include "api/widget_handlers.h"

namespace footnote::api {

namespace widget {
namespace {

WidgetResult<Feedback> parse_feedback(const http::Request& request) {
  const auto value = parse_request_json(request.body);
  if (!value) return unreadable(value.error());
  const auto body = JsonReader::of(*value);
  if (!body) return unreadable(body.error());
  const auto rating = body->required_string("rating", 16);
  if (!rating) return unreadable(rating.error());
  const auto reason = body->optional_string("reason", 4 * kFeedbackCharsMax);
  if (!reason) return unreadable(reason.error());
  const auto known = parse_rating(*rating);
  if (!known) return refused(422, "invalid_request", "'rating' is \"up\" or \"down\"");
  const Feedback feedback{.rating = *known, .reason = reason->value_or("")};
  if (const auto good = check_feedback(feedback); !good) return unreadable(good.error());
  return feedback;
}

http::Response rate(const WidgetServices& services, const http::Request& request, const CallContext& call) {
  const auto claims = claims_of(services, request);
  if (!claims) return answer_refusal(request, claims.error());
  const auto feedback = parse_feedback(request);
  if (!feedback) return answer_refusal(request, feedback.error());
  if (const auto wait = services.door.messages.count(claims->visitor.value, services.clock.now())) {
    return answer_refusal(request, {429, "message_quota_exceeded", "too many messages; try again in a moment"}, wait);
  }
  const auto rated =
      services.conversations.rate_turn(call, claims->workspace, claims->visitor, {std::string(request.param("id"))}, *feedback);
  if (rated) return with_origin(request, {.status = 204, .headers = {}, .body = {}});
  if (rated.error().code == ErrorCode::kNotFound) {
    return answer_refusal(request, {404, "message_not_found", "there is no such message"});
  }
  return answer_refusal(request, failed(rated.error(), call).error());
}

http::Response render_widget_error(const Error& error) {
  const int status = status_of(error);
  return render({status, status == 503 || status == 429 ? "overloaded" : "invalid_request", shown_message(error)});
}

using WholeAnswer = http::Response (*)(const WidgetServices&, const http::Request&, const CallContext&);
using StreamedAnswer = void (*)(const WidgetServices&, const http::Request&, const CallContext&, http::ResponseStream&);

Handler bound(const WidgetServices& services, WholeAnswer function) {
  return [services, function](const access::Caller&, const http::Request& request, const CallContext& call) -> Result<http::Response> {
    return function(services, request, call);
  };
}

StreamHandler bound(const WidgetServices& services, StreamedAnswer function) {
  return [services, function](const access::Caller&, const http::Request& request, const CallContext& call,
                              http::ResponseStream& response) { function(services, request, call, response); };
}

}  // namespace
}  // namespace widget

std::vector<Route> make_widget_routes(const WidgetServices& services) {
  using namespace widget;
  using http::Method;
  const auto route = [](Method method, std::string_view path, std::variant<Handler, StreamHandler> handler, std::string summary,
                        http::Lane lane = http::Lane::kWorker) {
    return Route{.access = Access::anyone(),
                 .method = method,
                 .pattern = std::string(kWidgetPath) + std::string(path),
                 .handler = std::move(handler),
                 .lane = lane,
                 .body_bytes_max = kWidgetBodyBytesMax,
                 .timeout = kVisitorAnswerTimeout,
                 .summary = std::move(summary),
                 .error_form = render_widget_error,
                 .for_every_origin = true};
  };
  constexpr http::Lane kWaits = http::Lane::kWaitingWorker;
  return {
      route(Method::kPost, "init", bound(services, open_widget),
            "Start or continue a visitor's conversation; returns a token for the other calls"),
      route(Method::kPost, "messages", bound(services, answer_message), "Send a visitor's message; the answer comes in one piece", kWaits),
      route(Method::kPost, "messages/stream", bound(services, stream_message),
            "Send a visitor's message; the answer is a stream of server-sent events", kWaits),
      route(Method::kGet, "messages/{id}/stream", bound(services, resume_stream), "Resume a stream after Last-Event-ID", kWaits),
      route(Method::kPost, "messages/{id}/stop", bound(services, stop_message), "Stop an answer in progress"),
      route(Method::kPost, "messages/{id}/feedback", bound(services, rate), "Thumbs up or down")};
}

}  // namespace footnote::api
