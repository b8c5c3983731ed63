#include "api/session_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/memory_store.h"

namespace footnote::api {
namespace {

using http::Method;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SessionRoutesTest : public ::testing::Test {
 protected:
  http::Response send(Method method, std::string body, http::Headers headers) {
    for (const Route& route : make_session_routes(auth_)) {
      if (route.method != method) continue;
      http::Request request{.method = method, .path = "/api/session", .headers = std::move(headers), .body = std::move(body)};
      auto response = std::get<Handler>(route.handler)({}, request, {});
      return response ? *std::move(response) : route.error_form(response.error());
    }
    return {};
  }
  std::string make_key() { return keys_->create({}, {home_, "browser", {KeyScope::kRead}, std::nullopt, {}})->text; }
  /// The cookie as a browser sends it back.
  std::string cookie_of(const http::Response& response) {
    const std::string text(response.headers.find("set-cookie").value_or(""));
    return text.substr(0, text.find(';'));
  }

  const SystemClock clock_;
  fakes::MemoryStore store_{clock_};
  const WorkspaceId home_ = store_.find_workspace({}, kDefaultWorkspace)->id;
  std::unique_ptr<access::Keys> keys_ = access::Keys::open({}, store_, clock_, "owner-secret").value();
  Metrics metrics_;
  const AuthServices auth_{*keys_, store_, home_, metrics_};
  const std::pair<std::string, std::string> here_{"host", "127.0.0.1:7700"};
  const std::pair<std::string, std::string> own_{"origin", "http://127.0.0.1:7700"};
};

TEST_F(SessionRoutesTest, AKeyBecomesACookieThatScriptsCannotRead) {
  const std::string key = make_key();
  const http::Response response = send(Method::kPost, R"({"key": ")" + key + R"("})", {here_, own_});
  EXPECT_EQ(response.status, 200);
  const std::string cookie(response.headers.find("set-cookie").value());
  EXPECT_THAT(cookie, StartsWith("footnote_session_7700="));
  EXPECT_THAT(cookie, HasSubstr("; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(cookie, ::testing::Not(HasSubstr("Secure"))) << "browsers would drop it on plain http";
  EXPECT_EQ(cookie.find(key), std::string::npos);
  EXPECT_EQ(response.body.find(key), std::string::npos);
  const http::Response secure =
      send(Method::kPost, R"({"key": ")" + key + R"("})", {{"host", "docs.example"}, {"origin", "https://docs.example"}});
  EXPECT_THAT(secure.headers.find("set-cookie").value(), StartsWith("footnote_session="));
  EXPECT_THAT(secure.headers.find("set-cookie").value(), HasSubstr("; Secure"));
}

TEST_F(SessionRoutesTest, TheCookieAdmitsOnlyOwnPages) {
  const std::string cookie = cookie_of(send(Method::kPost, R"({"key": ")" + make_key() + R"("})", {here_, own_}));
  const auto admitted = [&](Method method, http::Headers headers) {
    headers.set("cookie", "a=b; " + cookie + "; c");
    return identify(auth_, {.method = method, .headers = std::move(headers)}).has_value();
  };
  EXPECT_TRUE(admitted(Method::kGet, {here_}));
  EXPECT_TRUE(admitted(Method::kPost, {here_, own_}));
  EXPECT_FALSE(admitted(Method::kPost, {here_}));
  EXPECT_FALSE(admitted(Method::kPost, {here_, {"origin", "http://127.0.0.1:3000"}}));
  EXPECT_FALSE(admitted(Method::kGet, {here_, {"sec-fetch-site", "same-site"}}));
  EXPECT_FALSE(admitted(Method::kGet, {{"host", "127.0.0.1:7701"}})) << "another server on this machine";
  EXPECT_FALSE(admitted(Method::kGet, {here_, {"authorization", "Bearer fn_live_wrong"}})) << "a key that is sent is the one that counts";
}

TEST_F(SessionRoutesTest, ShowsWhoIsSignedIn) {
  EXPECT_THAT(send(Method::kGet, "", {here_}).body, HasSubstr(R"("needs_key":false)"));
  const std::string cookie = cookie_of(send(Method::kPost, R"({"key": ")" + make_key() + R"("})", {here_, own_}));
  EXPECT_THAT(send(Method::kGet, "", {here_}).body, HasSubstr(R"("signed_in":false)"));
  const std::string body = send(Method::kGet, "", {here_, {"cookie", cookie}}).body;
  EXPECT_THAT(body, HasSubstr(R"("signed_in":true)"));
  EXPECT_THAT(body, HasSubstr(R"("scopes":["read"])"));
}

TEST_F(SessionRoutesTest, AWrongKeyIsRefused) {
  make_key();
  EXPECT_EQ(send(Method::kPost, R"({"key": "fn_live_wrong"})", {here_, own_}).status, 401);
  EXPECT_EQ(send(Method::kPost, R"({})", {here_, own_}).status, 422);
  EXPECT_EQ(send(Method::kPost, R"({"key": "x", "more": 1})", {here_, own_}).status, 422);
  EXPECT_EQ(send(Method::kPost, "{", {here_, own_}).status, 400);
}

TEST_F(SessionRoutesTest, SigningOutRemovesTheCookie) {
  const http::Response response = send(Method::kDelete, "", {here_, own_});
  EXPECT_EQ(response.status, 204);
  EXPECT_THAT(response.headers.find("set-cookie").value(), StartsWith("footnote_session_7700=; Path=/; Max-Age=0;"));
}

}  // namespace
}  // namespace footnote::api
