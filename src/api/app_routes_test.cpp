#include "api/app_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/asset.h"

namespace footnote::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kFirstLoadBytesMax = 250 * 1024;  // of all files, as transferred

http::Response get(const Route& route, http::Headers headers = {}) {
  http::Request request;
  request.headers = std::move(headers);
  return std::get<Handler>(route.handler)({}, request, {}).value();
}

Route find(std::string_view pattern) {
  const auto routes = make_app_routes();
  const auto route = std::ranges::find(routes, pattern, &Route::pattern);
  return route == routes.end() ? Route{.access = Access::anyone()} : *route;
}

TEST(AppRoutesTest, ThePageForbidsInlineCodeAndHtmlFromText) {
  for (const std::string_view path : {"/app/chat", "/app/chat/{conversation}", "/app/search"}) {
    const http::Response page = get(find(path));
    EXPECT_EQ(page.headers.find("content-type"), "text/html; charset=utf-8") << path;
    const std::string_view policy = page.headers.find("content-security-policy").value();
    EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'"));
    EXPECT_THAT(policy, HasSubstr("require-trusted-types-for 'script'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_EQ(page.headers.find("cache-control"), "no-cache");
  }
  EXPECT_EQ(get(find("/app")).headers.find("location"), "/app/chat");
}

TEST(AppRoutesTest, FilesAreKeptForGoodAndSmall) {
  std::size_t total = 0;
  std::size_t files = 0;
  const std::string page = get(find("/app/chat")).body;
  for (const Route& route : make_app_routes()) {
    if (!route.pattern.starts_with("/app/assets/")) continue;
    const http::Response packed = get(route, {{"accept-encoding", "gzip"}});
    EXPECT_EQ(packed.headers.find("content-encoding"), "gzip");
    EXPECT_EQ(packed.headers.find("vary"), "accept-encoding");
    EXPECT_THAT(packed.headers.find("cache-control").value(), HasSubstr("immutable"));
    EXPECT_LT(packed.body.size(), get(route).body.size()) << route.pattern;
    EXPECT_THAT(page, HasSubstr(route.pattern)) << "the page names the file";
    total += packed.body.size();
    ++files;
  }
  EXPECT_GE(files, 2U);
  EXPECT_LE(total, kFirstLoadBytesMax);
  EXPECT_GT(total, 20U * 1024);
}

}  // namespace
}  // namespace footnote::api
