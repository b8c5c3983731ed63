#include "api/widget_script.h"

#include <memory>

#include "api/asset.h"
#include "base/text.h"

namespace footnote::api {
namespace {

/// Five minutes: upgrades reach every page soon, and a visit of several pages loads it once.
constexpr AssetHeaders kScriptHeaders{.cache_control = "public, max-age=300"};

constexpr AssetHeaders kShopHeaders{
    .security_policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"};

/// REQUIRES: the build embedded it.
Asset widget_asset(std::string_view name) {
  for (const Asset& asset : widget_assets()) {
    if (asset.name == name) return {"widget.js", asset.bytes};
  }
  return {"widget.js", {}};
}

Handler serve_script() {
  const Asset plain = widget_asset("widget.js");
  const Asset packed = widget_asset("widget.js.gz");
  return [plain, packed, plain_tag = etag_of(plain.bytes), packed_tag = etag_of(packed.bytes)](
             const access::Caller&, const http::Request& request, const CallContext&) {
    const bool gzip = accepts_gzip(request.headers.find("accept-encoding").value_or(""));
    http::Response response = asset_response(gzip ? packed : plain, gzip ? packed_tag : plain_tag, kScriptHeaders, request);
    if (gzip) response.headers.set("content-encoding", "gzip");
    response.headers.set("vary", "accept-encoding");
    response.headers.set("cross-origin-resource-policy", "cross-origin");
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

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view part : split(accept_encoding, ',')) {
    const std::string coding = to_lower_ascii(trim(part));
    const std::size_t end = coding.find(';');
    if (trim(std::string_view(coding).substr(0, end)) != "gzip") continue;
    if (end == std::string::npos) return true;
    const std::string_view weight = trim(std::string_view(coding).substr(end + 1));
    return weight.find_first_of("123456789") != std::string_view::npos;  // "q=0", "q=0.000" refuse it
  }
  return false;
}

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
