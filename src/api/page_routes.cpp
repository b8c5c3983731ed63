#include "api/page_routes.h"

#include "api/asset.h"

namespace footnote::api {

namespace {

constexpr AssetHeaders kPageHeaders{
    .security_policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"};

/// Browsers accept text/html; vector store clients query this path for the server version.
bool wants_page(const http::Request& request) {
  return request.headers.find("accept").value_or("").find("text/html") != std::string_view::npos;
}

/// Serves the page to browsers, and name and version to programs.
Handler page_or_version(Handler page, const std::string& version) {
  const std::string about =
      to_text(JsonObject{{"title", "footnote - a vector store that answers"}, {"version", kQdrantVersion}, {"commit", version}});
  return [page = std::move(page), about](const access::Caller& caller, const http::Request& request,
                                         const CallContext& call) -> Result<http::Response> {
    Result<http::Response> response =
        wants_page(request) ? page(caller, request, call) : http::Response::text(200, "application/json", about);
    if (response) response->headers.set("vary", "accept");
    return response;
  };
}

}  // namespace

std::vector<Route> make_page_routes(const Services& services) {
  std::vector<Route> routes;
  for (const Asset& asset : first_page_assets()) {
    const bool page = asset.name == "index.html";
    routes.push_back(
        {.access = Access::anyone(),
         .method = http::Method::kGet,
         .pattern = page ? "/" : fmt::format("/assets/{}", asset.name),
         .handler = page ? page_or_version(serve_asset(asset, kPageHeaders), services.version) : serve_asset(asset, kPageHeaders),
         .lane = http::Lane::kInline,
         .summary = page ? "The start page" : "A file of the start page"});
  }
  const JsonArray questions(services.example_questions.begin(), services.example_questions.end());
  const std::string examples = to_text(JsonObject{{"questions", questions}, {"ingest_command", services.ingest_command}});
  routes.push_back({.access = Access::with(KeyScope::kRead),
                    .method = http::Method::kGet,
                    .pattern = "/api/examples",
                    .handler = Handler([examples](const access::Caller&, const http::Request&, const CallContext&) {
                      return http::Response::text(200, "application/json", examples);
                    }),
                    .lane = http::Lane::kInline,
                    .summary = "Example questions for the start page, and how to ingest documents"});
  return routes;
}

}  // namespace footnote::api
