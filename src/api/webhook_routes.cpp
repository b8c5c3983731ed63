#include "api/webhook_routes.h"

#include <algorithm>

#include "base/base64.h"
#include "base/page_url.h"

namespace footnote::api {
namespace {

using access::Caller;

constexpr std::size_t kEventsMax = 16;
constexpr std::size_t kDeadShown = 100;
constexpr std::size_t kDeadShownMax = 1'000;

/// Omits the secret, which is shown only once.
JsonObject render(const WebhookEndpoint& endpoint) {
  return {{"id", endpoint.id.value},
          {"url", endpoint.url},
          {"events", JsonArray(endpoint.events.begin(), endpoint.events.end())},
          {"enabled", endpoint.enabled},
          {"created_at", to_rfc3339(endpoint.created_at)}};
}

JsonObject render(const WebhookDelivery& delivery) {
  return {{"id", delivery.id.value},           {"webhook_id", delivery.endpoint.value},
          {"message_id", delivery.message_id}, {"type", delivery.news.type},
          {"subject", delivery.news.subject},  {"happened_at", to_rfc3339(delivery.news.happened_at)},
          {"attempts", delivery.attempts},     {"dead_at", delivery.dead_at ? Json(to_rfc3339(*delivery.dead_at)) : Json(nullptr)},
          {"last_error", delivery.last_error}};
}

std::string make_secret() {
  std::string out(kWebhookSecretPrefix);
  append_base64(out, random_base62(kWebhookSecretBytes));
  return out;
}

/// Overwrites the fields of `endpoint` that are present.
Result<void> read_endpoint(const http::Request& request, WebhookEndpoint& endpoint) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"url", "events", "enabled"}));
  FOOTNOTE_TRY(auto url, reader.optional_string("url", kPageUrlBytesMax));
  if (url) endpoint.url = *std::move(url);
  FOOTNOTE_TRY(auto events, reader.optional_strings("events", kEventsMax, kPageUrlBytesMax));
  if (events) endpoint.events = *std::move(events);
  FOOTNOTE_TRY(const auto enabled, reader.optional_bool("enabled"));
  endpoint.enabled = enabled.value_or(endpoint.enabled);
  return {};
}

Result<http::Response> list(const AgentServices& services, const Caller& caller, const http::Request&, const CallContext& call) {
  FOOTNOTE_TRY(const auto endpoints, services.webhooks.endpoints(call, caller.workspace));
  JsonArray out;
  for (const WebhookEndpoint& endpoint : endpoints) out.push_back(render(endpoint));
  return http::Response::json(200, JsonObject{{"webhooks", std::move(out)}});
}

Result<http::Response> create(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  WebhookEndpoint endpoint{.workspace = caller.workspace, .secret = make_secret()};
  FOOTNOTE_CHECK(read_endpoint(request, endpoint));
  FOOTNOTE_TRY(const WebhookEndpoint made, services.webhooks.add_endpoint(call, endpoint));
  JsonObject body = render(made);
  body["secret"] = made.secret;
  http::Response response = http::Response::json(201, body);
  response.headers.set("cache-control", "no-store");
  return response;
}

Result<http::Response> change(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, id_in_path(request, "webhook"));
  FOOTNOTE_TRY(const auto endpoints, services.webhooks.endpoints(call, caller.workspace));
  const auto found = std::ranges::find(endpoints, WebhookId{id}, &WebhookEndpoint::id);
  if (found == endpoints.end()) return fail(ErrorCode::kNotFound, "there is no webhook {}", id);
  WebhookEndpoint endpoint = *found;
  FOOTNOTE_CHECK(read_endpoint(request, endpoint));
  FOOTNOTE_TRY(const WebhookEndpoint saved, services.webhooks.save_endpoint(call, endpoint));
  return http::Response::json(200, render(saved));
}

Result<http::Response> remove(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, id_in_path(request, "webhook"));
  FOOTNOTE_CHECK(services.webhooks.remove_endpoint(call, caller.workspace, {id}));
  return http::Response::json(200, JsonObject{{"id", id}, {"deleted", true}});
}

Result<http::Response> list_dead(const AgentServices& services, const Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const std::size_t limit, number_in_query(request, "limit", kDeadShown, kDeadShownMax));
  FOOTNOTE_TRY(const auto dead, services.webhooks.dead(call, caller.workspace, limit));
  JsonArray out;
  for (const WebhookDelivery& delivery : dead) out.push_back(render(delivery));
  return http::Response::json(200, JsonObject{{"dead_letters", std::move(out)}});
}

Result<http::Response> retry(const AgentServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  FOOTNOTE_TRY(const std::int64_t id, id_in_path(request, "dead letter"));
  FOOTNOTE_CHECK(services.webhooks.revive(call, caller.workspace, {id}));
  return http::Response::json(202, JsonObject{{"id", id}, {"queued", true}});
}

}  // namespace

std::vector<Route> make_webhook_routes(const AgentServices& services) {
  using http::Method;
  const Access admin = Access::with(KeyScope::kAdmin);
  return {
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/webhooks",
       .handler = bind(services, list),
       .summary = "The workspace's webhooks"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/webhooks",
       .handler = bind(services, create),
       .summary = "Create a webhook; its secret is shown only once"},
      {.access = admin,
       .method = Method::kGet,
       .pattern = "/api/admin/webhooks/dead-letters",
       .handler = bind(services, list_dead),
       .summary = "Messages that could not be delivered, newest first"},
      {.access = admin,
       .method = Method::kPost,
       .pattern = "/api/admin/webhooks/dead-letters/{id}/retry",
       .handler = bind(services, retry),
       .summary = "Send a message again"},
      {.access = admin,
       .method = Method::kPatch,
       .pattern = "/api/admin/webhooks/{id}",
       .handler = bind(services, change),
       .summary = "Change a webhook's address, events or whether it is on"},
      {.access = admin,
       .method = Method::kDelete,
       .pattern = "/api/admin/webhooks/{id}",
       .handler = bind(services, remove),
       .summary = "Delete a webhook and its undelivered messages"},
  };
}

}  // namespace footnote::api
