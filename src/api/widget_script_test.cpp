#include "api/widget_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/asset.h"

namespace footnote::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kWidgetBytesMax = 40 * 1024;  // of the script as transferred

http::Response get(const std::vector<Route>& routes, std::string_view pattern, http::Headers headers = {}) {
  const auto route = std::ranges::find(routes, pattern, &Route::pattern);
  if (route == routes.end()) return http::Response::text(404, "text/plain", "no such row");
  http::Request request;
  request.headers = std::move(headers);
  return std::get<Handler>(route->handler)({}, request, {}).value();
}

TEST(WidgetScriptTest, AnyPageMayLoadIt) {
  const auto routes = make_widget_script_routes();
  EXPECT_EQ(routes.front().access.scope(), std::nullopt);
  const http::Response response = get(routes, "/widget.js");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.find("content-type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(response.headers.find("cross-origin-resource-policy"), "cross-origin");
  EXPECT_EQ(response.headers.find("cache-control"), "public, max-age=300");
  EXPECT_EQ(response.headers.find("vary"), "accept-encoding");
  EXPECT_EQ(response.headers.find("x-content-type-options"), "nosniff");
  EXPECT_FALSE(response.headers.contains("content-encoding"));
  EXPECT_THAT(response.body, HasSubstr("attachShadow"));
}

TEST(WidgetScriptTest, GoesCompressedToThoseWhoTakeThat) {
  const auto routes = make_widget_script_routes();
  const http::Response response = get(routes, "/widget.js", {{"accept-encoding", "br, gzip"}});
  EXPECT_EQ(response.headers.find("content-encoding"), "gzip");
  EXPECT_EQ(response.headers.find("content-type"), "text/javascript; charset=utf-8");
  EXPECT_THAT(response.body, StartsWith("\x1f\x8b"));
  EXPECT_LE(response.body.size(), kWidgetBytesMax);
  EXPECT_NE(response.headers.find("etag"), get(routes, "/widget.js").headers.find("etag"));
}

TEST(WidgetScriptTest, IsNotSentAgainToThoseWhoHaveIt) {
  const auto routes = make_widget_script_routes();
  const std::string etag(get(routes, "/widget.js").headers.find("etag").value());
  const http::Response again = get(routes, "/widget.js", {{"if-none-match", etag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_TRUE(again.body.empty());
  EXPECT_EQ(again.headers.find("vary"), "accept-encoding");
  EXPECT_EQ(get(routes, "/widget.js", {{"if-none-match", etag}, {"accept-encoding", "gzip"}}).status, 200);
}

TEST(WidgetScriptTest, WhoTakesGzip) {
  for (const std::string_view yes : {"gzip", "GZIP", "br, gzip;q=0.5", "deflate,gzip ; q=1", "gzip;q=0.001"})
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  for (const std::string_view no : {"", "br", "gzip;q=0", "gzip; q=0.000", "x-gzip", "identity"}) EXPECT_FALSE(accepts_gzip(no)) << no;
}

TEST(DemoShopTest, ServesItsPagesUnderAPolicyOfItsOwnHostAlone) {
  const auto routes = make_demo_shop_routes({"agt_own"});
  for (const std::string_view page : {"/demo/shop/", "/demo/shop/returns.html", "/demo/shop/lantern-tent.html"}) {
    const http::Response response = get(routes, page);
    EXPECT_EQ(response.status, 200) << page;
    EXPECT_EQ(response.headers.find("content-type"), "text/html; charset=utf-8");
    EXPECT_THAT(std::string(response.headers.find("content-security-policy").value()),
                StartsWith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"));
    EXPECT_THAT(response.body, HasSubstr(R"(<script src="/widget.js" data-agent="agt_own" async></script>)")) << page;
  }
  EXPECT_EQ(get(routes, "/demo/shop").status, 308);
  EXPECT_EQ(get(routes, "/demo/shop").headers.find("location"), "/demo/shop/");
  EXPECT_EQ(get(routes, "/demo/shop/shop.css").headers.find("content-type"), "text/css; charset=utf-8");
  EXPECT_EQ(get(routes, "/demo/shop/lantern.svg").headers.find("content-type"), "image/svg+xml");
}

}  // namespace
}  // namespace footnote::api
