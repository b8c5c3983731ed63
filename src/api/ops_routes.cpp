#include "api/ops_routes.h"

#include "base/text.h"

namespace footnote::api {

namespace {

std::string_view verb(http::Method method) {
  switch (method) {
    case http::Method::kGet: return "get";
    case http::Method::kHead: return "head";
    case http::Method::kPost: return "post";
    case http::Method::kPut: return "put";
    case http::Method::kPatch: return "patch";
    case http::Method::kDelete: return "delete";
    case http::Method::kOptions: return "options";
  }
  return "get";
}

JsonObject describe(const Route& route) {
  JsonArray parameters;
  for (std::string_view segment : split(route.pattern, '/')) {
    if (!segment.starts_with('{')) continue;
    const std::string_view name = segment.substr(1, segment.find_first_of(".}") - 1);
    parameters.push_back(JsonObject{{"name", name}, {"in", "path"}, {"required", true}, {"schema", JsonObject{{"type", "string"}}}});
  }
  JsonObject out{{"summary", route.summary}, {"responses", JsonObject{{"200", JsonObject{{"description", "ok"}}}}}};
  if (const auto scope = route.access.scope()) out["security"] = JsonArray{JsonObject{{"key", JsonArray{to_string(*scope)}}}};
  if (!parameters.empty()) out["parameters"] = std::move(parameters);
  if (route.method == http::Method::kPost) {
    const JsonObject schema{{"schema", JsonObject{{"type", "object"}}}};
    out["requestBody"] = JsonObject{{"required", true}, {"content", JsonObject{{"application/json", schema}}}};
  }
  return out;
}

http::Response ready(const Services& services) {
  const std::vector<std::string> reasons = services.not_ready_reasons ? services.not_ready_reasons() : std::vector<std::string>{};
  if (reasons.empty()) return http::Response::json(200, JsonObject{{"ready", true}});
  http::Response response = http::Response::json(503, JsonObject{{"ready", false}, {"reasons", JsonArray(reasons.begin(), reasons.end())}});
  response.headers.set("retry-after", "1");
  return response;
}

}  // namespace

std::vector<Route> make_ops_routes(const Services& services) {
  using access::Caller;
  using http::Lane, http::Method;
  const auto live = [](const Caller&, const http::Request&, const CallContext&) {
    return http::Response::json(200, JsonObject{{"live", true}});
  };
  const auto is_ready = [services](const Caller&, const http::Request&, const CallContext&) { return ready(services); };
  const auto metrics = [services](const Caller& caller, const http::Request&, const CallContext& call) -> Result<http::Response> {
    // Metrics cover all workspaces and name corpora.
    if (!caller.is_operator) return fail(ErrorCode::kPermissionDenied, "only an operator may read the metrics of all workspaces");
    if (services.refresh_metrics) services.refresh_metrics(call);
    return http::Response::text(200, "text/plain; version=0.0.4; charset=utf-8", services.metrics.render());
  };
  return {{.access = Access::anyone(),
           .method = Method::kGet,
           .pattern = "/livez",
           .handler = Handler(live),
           .lane = Lane::kInline,
           .summary = "Whether the process runs"},
          {.access = Access::anyone(),
           .method = Method::kGet,
           .pattern = "/readyz",
           .handler = Handler(is_ready),
           .summary = "Whether it can answer; 503 with the reasons if not"},
          {.access = Access::with(KeyScope::kAdmin),
           .method = Method::kGet,
           .pattern = "/metrics",
           .handler = Handler(metrics),
           .summary = "Prometheus metrics; operators only"}};
}

Route make_openapi_route(const std::vector<Route>& routes, const std::string& version) {
  JsonObject paths;
  for (const Route& route : routes) {
    Json& path = paths[route.pattern];
    if (!path.is_object()) path = JsonObject{};
    path.get_object()[verb(route.method)] = describe(route);
  }
  const JsonObject key{{"type", "http"}, {"scheme", "bearer"}, {"description", "An API key, fn_live_...; see docs/keys.md"}};
  const std::string text = to_text(JsonObject{{"openapi", "3.1.0"},
                                              {"info", JsonObject{{"title", "Footnote"}, {"version", version}}},
                                              {"paths", std::move(paths)},
                                              {"components", JsonObject{{"securitySchemes", JsonObject{{"key", key}}}}}});
  const auto serve = [text](const access::Caller&, const http::Request&, const CallContext&) {
    return http::Response::text(200, "application/json", text);
  };
  return {.access = Access::anyone(),
          .method = http::Method::kGet,
          .pattern = "/openapi.json",
          .handler = Handler(serve),
          .lane = http::Lane::kInline,
          .summary = "This description"};
}

}  // namespace footnote::api
