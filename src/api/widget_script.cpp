#include "api/widget_script.h"

#include <memory>

#include "api/asset.h"

namespace footnote::api {
namespace {

/// Five minutes: upgrades reach every page soon, and a visit of several pages loads it once.
constexpr AssetHeaders kScriptHeaders{.cache_control = "public, max-age=300"};

constexpr AssetHeaders kShopHeaders{
    .security_policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"};

Handler serve_script() {
  return [serve = serve_packed_asset(widget_assets(), "widget.js", kScriptHeaders)](const access::Caller& caller,
                                                                                    const http::Request& request, const CallContext& call) {
    Result<http::Response> response = serve(caller, request, call);
    if (response) response->headers.set("cross-origin-resource-policy", "cross-origin");
    return response;
  };
}

/// Replaces the placeholder agent of the page in the source tree.
Handler serve_page(const Asset& asset, const AgentId& agent) {
  constexpr std::string_view kNamed = "agt_demo";
  const auto page = std::make_shared<std::string>(asset.bytes);
  if (const std::size_t at = page->find(kNamed); at != std::string::npos) page->replace(at, kNamed.size(), agent.value);
  return [page, serve = serve_asset({asset.name, *page}, kShopHeaders)](const access::Caller& caller, const http::Request& request,
                                                                        const CallContext& call) { return serve(caller, request, call); };
}

}  // namespace

std::vector<Route> make_widget_script_routes() {
  return {{.access = Access::anyone(),
           .method = http::Method::kGet,
           .pattern = "/widget.js",
           .handler = serve_script(),
           .lane = http::Lane::kInline,
           .summary = "The widget for pages of other sites"}};
}

std::vector<Route> make_demo_shop_routes(const AgentId& agent) {
  std::vector<Route> routes;
  // Its pages use relative links, which need the trailing slash.
  routes.push_back({.access = Access::anyone(),
                    .method = http::Method::kGet,
                    .pattern = "/demo/shop",
                    .handler = Handler([](const access::Caller&, const http::Request&, const CallContext&) -> Result<http::Response> {
                      http::Response response = http::Response::text(308, "text/plain; charset=utf-8", "");
                      response.headers.set("location", "/demo/shop/");
                      return response;
                    }),
                    .lane = http::Lane::kInline,
                    .summary = "The demonstration shop"});
  for (const Asset& asset : demo_shop_assets()) {
    const bool is_page = asset.name.ends_with(".html");
    routes.push_back({.access = Access::anyone(),
                      .method = http::Method::kGet,
                      .pattern = fmt::format("/demo/shop/{}", asset.name == "index.html" ? "" : asset.name),
                      .handler = is_page ? serve_page(asset, agent) : serve_asset(asset, kShopHeaders),
                      .lane = http::Lane::kInline,
                      .summary = "A page of the demonstration shop"});
  }
  return routes;
}

}  // namespace footnote::api
