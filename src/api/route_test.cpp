#include "api/route.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

// A route that does not say who may call it must not compile.
template <class T>
concept WithoutAccess = requires { T{.method = http::Method::kGet, .pattern = "/x"}; };
template <class T>
concept WithAccess = requires { T{.access = Access::anyone(), .method = http::Method::kGet, .pattern = "/x"}; };
static_assert(!std::is_default_constructible_v<Access>);
static_assert(!WithoutAccess<Route>);
static_assert(WithAccess<Route>);

TEST(AccessTest, SaysItsScope) {
  EXPECT_EQ(Access::anyone().scope(), std::nullopt);
  EXPECT_EQ(Access::with(KeyScope::kIngest).scope(), KeyScope::kIngest);
}

}  // namespace
}  // namespace footnote::api
