#include "api/qdrant_routes.h"

#include <iterator>

namespace footnote::api {

namespace {

constexpr std::chrono::minutes kPointTimeout{5};

Handler enveloped(const PointServices& services, PointAnswer answer) {
  return [services, answer](const access::Caller& caller, const http::Request& request, const CallContext& call) -> Result<http::Response> {
    const auto start = std::chrono::steady_clock::now();
    points::Work work = services.search.new_work();
    FOOTNOTE_TRY(Json result, answer({services, caller, request, call, work}));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return http::Response::json(200, JsonObject{{"result", std::move(result)}, {"status", "ok"}, {"time", took.count()}});
  };
}

/// Sends the raw file, without an envelope.
Result<http::Response> download(const PointServices& services, const access::Caller& caller, const http::Request& request,
                                const CallContext&) {
  const std::string_view name = request.param("snapshot");
  FOOTNOTE_TRY(std::string bytes, services.snapshots.read(caller.workspace, request.param("name"), name));
  return http::Response::text(200, "application/octet-stream", std::move(bytes));
}

}  // namespace

Result<Collection> PointCall::collection() const {
  const std::string_view name = request.param("name");
  auto found = services.points.collection(call, caller.workspace, name);
  if (found || found.error().code != ErrorCode::kNotFound || name != kMemoryCollection) return found;
  FOOTNOTE_CHECK(services.catalog.ensure_corpus(call, caller.workspace, name, services.embedder.space()));
  return services.points.collection(call, caller.workspace, name);
}

std::vector<Route> make_qdrant_routes(const PointServices& services) {
  std::vector<Route> out;
  for (const auto& routes : {collection_routes(), point_routes()}) {
    for (const PointRoute& route : routes) {
      out.push_back({.access = Access::with(route.scope),
                     .method = route.method,
                     .pattern = "/collections" + std::string(route.pattern),
                     .handler = enveloped(services, route.answer),
                     .body_bytes_max = kPointBodyBytesMax,
                     .timeout = kPointTimeout,
                     .summary = std::string(route.summary),
                     .error_form = render_qdrant_error});
    }
  }
  out.push_back({.access = Access::with(KeyScope::kRead),
                 .method = http::Method::kGet,
                 .pattern = "/aliases",
                 .handler = enveloped(services, all_aliases),
                 .summary = "Aliases of all collections",
                 .error_form = render_qdrant_error});
  out.push_back({.access = Access::with(KeyScope::kRead),
                 .method = http::Method::kGet,
                 .pattern = "/collections/{name}/snapshots/{snapshot}",
                 .handler = bind(services, download),
                 .timeout = kPointTimeout,
                 .summary = "A snapshot's file",
                 .error_form = render_qdrant_error});
  return out;
}

}  // namespace footnote::api
