#include "http/router.h"

#include <gtest/gtest.h>

namespace footnote::http {
namespace {

Route route(std::string_view method, std::string_view pattern) {
  Route out;
  out.method = *parse_method(method);
  out.pattern = pattern;
  out.handler = Handler([](const Request&, const CallContext&) { return Response{}; });
  return out;
}

Router table() {
  return *Router::build({route("GET", "/{path...}"), route("GET", "/api/documents/{id}"), route("DELETE", "/api/documents/{id}"),
                         route("GET", "/api/documents/recent"), route("POST", "/api/documents"), route("GET", "/"),
                         route("GET", "/api/{kind}/{id}/parts"), route("GET", "/files/{path...}"), route("HEAD", "/api/documents/recent"),
                         route("POST", "/only/{a}/{b}")});
}

/// "pattern name=value ...", "404", "405 GET, ..." or "400".
std::string matched(std::string_view method, std::string_view path) {
  static const Router router = table();
  const Result<RouteMatch> match = router.match(*parse_method(method), path);
  if (!match) return "400";
  if (match->route == nullptr) return match->allowed.empty() ? "404" : "405 " + render_allow(match->allowed);
  std::string out = match->route->pattern;
  for (const auto& [name, value] : match->path_params) out += fmt::format(" {}={}", name, value);
  return out;
}

TEST(RouterTest, FindsTheMostSpecificRoute) {
  EXPECT_EQ(matched("GET", "/"), "/");
  EXPECT_EQ(matched("GET", "/api/documents/recent"), "/api/documents/recent");
  EXPECT_EQ(matched("GET", "/api/documents/42"), "/api/documents/{id} id=42");
  EXPECT_EQ(matched("GET", "/api/documents/42/parts"), "/api/{kind}/{id}/parts kind=documents id=42");
  EXPECT_EQ(matched("GET", "/files/a/b.txt"), "/files/{path...} path=a/b.txt");
  EXPECT_EQ(matched("GET", "/files/"), "/files/{path...} path=");
  EXPECT_EQ(matched("GET", "/else/where"), "/{path...} path=else/where");
  EXPECT_EQ(matched("POST", "/api/documents"), "/api/documents");
}

TEST(RouterTest, DecodesSegmentBySegment) {
  EXPECT_EQ(matched("GET", "/api/documents/a%2Fb"), "/api/documents/{id} id=a/b");
  EXPECT_EQ(matched("GET", "/api/documents/%C3%A9%20x"), "/api/documents/{id} id=\xC3\xA9 x");
  EXPECT_EQ(matched("GET", "/api/documents/%zz"), "400");
  EXPECT_EQ(matched("GET", "/api/documents/%00"), "400");
  EXPECT_EQ(matched("GET", "api"), "400");
}

TEST(RouterTest, NeverHandsOutAPathThatClimbs) {
  for (const std::string_view path : {"/files/../etc", "/files/a/../../b", "/files/..", "/files/%2e%2e/x", "/files/..%2fx",
                                      "/files/a%2F..%2Fb", "/files/./x", "/files/..%5Cx"}) {
    EXPECT_EQ(matched("GET", path), "404") << path;
  }
  EXPECT_EQ(matched("GET", "/files/..a/b.."), "/files/{path...} path=..a/b..");
}

TEST(RouterTest, NamesTheMethodsOfAPath) {
  EXPECT_EQ(matched("PUT", "/api/documents/42"), "405 GET, HEAD, DELETE, OPTIONS");
  EXPECT_EQ(matched("OPTIONS", "/only/1/2"), "405 GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(matched("POST", "/api/documents/"), "405 GET, HEAD, OPTIONS");
}

TEST(RouterTest, ServesHeadByGet) {
  EXPECT_EQ(matched("HEAD", "/api/documents/42"), "/api/documents/{id} id=42");
  static const Router router = table();
  EXPECT_EQ(router.match(Method::kHead, "/api/documents/recent")->route->method, Method::kHead);
}

TEST(RouterTest, AnEmptySegmentIsNoParameter) {
  const Router router = *Router::build({route("GET", "/a/{id}")});
  EXPECT_EQ(router.match(Method::kGet, "/a/")->route, nullptr);
  EXPECT_EQ(router.match(Method::kGet, "/a")->route, nullptr);
  EXPECT_EQ(router.match(Method::kGet, "/a/1/")->route, nullptr);
  EXPECT_TRUE(router.match(Method::kGet, "/b")->allowed.empty());
}

TEST(RouterTest, RefusesBadTables) {
  EXPECT_EQ(Router::build({route("GET", "/a/{x}"), route("GET", "/a/{y}")}).error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(Router::build({route("GET", "/a/{x}"), route("PUT", "/a/{y}"), route("GET", "/a/x")}));
  for (const std::string_view pattern : {"", "a", "/{}", "/{...}", "/{a}/{a}", "/{a...}/b", "/x{a}", "/{a}x", "/{a"}) {
    const auto built = Router::build({route("GET", pattern)});
    ASSERT_FALSE(built) << pattern;
    EXPECT_EQ(built.error().code, ErrorCode::kInvalidArgument) << pattern;
  }
  Route empty = route("GET", "/a");
  empty.handler = Handler();
  EXPECT_EQ(Router::build({empty}).error().code, ErrorCode::kInvalidArgument);
  Route stream = route("GET", "/a");
  stream.handler = StreamHandler([](const Request&, const CallContext&, ResponseStream&) {});
  EXPECT_TRUE(Router::build({stream}));
  stream.lane = Lane::kInline;
  EXPECT_EQ(Router::build({stream}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace footnote::http
