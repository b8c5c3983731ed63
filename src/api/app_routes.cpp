#include "api/app_routes.h"

#include "api/asset.h"

namespace footnote::api {

namespace {

// Trusted types: no script of ours, nor of a package, can turn text into HTML.
constexpr AssetHeaders kPageHeaders{
    .security_policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"};
constexpr AssetHeaders kFileHeaders{.cache_control = "public, max-age=31536000, immutable"};

Result<http::Response> to_chat(const access::Caller&, const http::Request&, const CallContext&) {
  http::Response response = http::Response::text(308, "text/plain; charset=utf-8", "");
  response.headers.set("location", "/app/chat");
  return response;
}

Route row(std::string pattern, Handler handler, std::string summary) {
  return {.access = Access::anyone(),
          .method = http::Method::kGet,
          .pattern = std::move(pattern),
          .handler = std::move(handler),
          .lane = http::Lane::kInline,
          .summary = std::move(summary)};
}

}  // namespace

std::vector<Route> make_app_routes() {
  const auto assets = chat_app_assets();
  std::vector<Route> routes{row("/app", to_chat, "The chat app")};
  for (const Asset& asset : assets) {
    if (asset.name.ends_with(".gz")) continue;
    const AssetHeaders& headers = asset.name == "index.html" ? kPageHeaders : kFileHeaders;
    const Handler serve = serve_packed_asset(assets, asset.name, headers);
    if (asset.name != "index.html") {
      routes.push_back(row(fmt::format("/app/assets/{}", asset.name), serve, "A file of the chat app"));
      continue;
    }
    for (const std::string_view path : {"/app/chat", "/app/chat/{conversation}", "/app/search"})
      routes.push_back(row(std::string(path), serve, "The chat app"));
  }
  return routes;
}

}  // namespace footnote::api
