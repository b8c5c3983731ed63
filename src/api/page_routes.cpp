#include "api/page_routes.h"

#include "base/sha256.h"

namespace footnote::api {

namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view content_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

/// Browsers name text/html; clients of vector stores look here for the version of theirs.
bool wants_page(const http::Request& request) {
  return request.headers.find("accept").value_or("").find("text/html") != std::string_view::npos;
}

/// The page for people, and for programs who this is.
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

Handler serve(const Asset& asset) {
  const std::string etag = "\"" + sha256_hex(asset.bytes).substr(0, 16) + "\"";
  return [asset, etag](const access::Caller&, const http::Request& request, const CallContext&) {
    http::Response response;
    if (request.headers.find("if-none-match") == etag) {
      response.status = 304;
    } else {
      response = http::Response::text(200, content_type(asset.name), std::string(asset.bytes));
    }
    response.headers.set("etag", etag);
    response.headers.set("cache-control", "no-cache");
    response.headers.set("content-security-policy", kPolicy);
    response.headers.set("x-content-type-options", "nosniff");
    response.headers.set("referrer-policy", "no-referrer");
    return response;
  };
}

}  // namespace

std::vector<Route> make_page_routes(const Services& services) {
  std::vector<Route> routes;
  for (const Asset& asset : embedded_assets()) {
    const bool page = asset.name == "index.html";
    routes.push_back({.access = Access::anyone(),
                      .method = http::Method::kGet,
                      .pattern = page ? "/" : fmt::format("/assets/{}", asset.name),
                      .handler = page ? page_or_version(serve(asset), services.version) : serve(asset),
                      .lane = http::Lane::kInline,
                      .summary = page ? "The first page" : "A part of the first page"});
  }
  const JsonArray questions(services.example_questions.begin(), services.example_questions.end());
  const std::string examples = to_text(JsonObject{{"questions", questions}});
  routes.push_back({.access = Access::with(KeyScope::kRead),
                    .method = http::Method::kGet,
                    .pattern = "/api/examples",
                    .handler = Handler([examples](const access::Caller&, const http::Request&, const CallContext&) {
                      return http::Response::text(200, "application/json", examples);
                    }),
                    .lane = http::Lane::kInline,
                    .summary = "Questions to try"});
  return routes;
}

}  // namespace footnote::api
