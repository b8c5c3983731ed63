#include "api/browser_policy.h"

#include <gtest/gtest.h>

namespace footnote::api {
namespace {

using http::Method;

int status(const BrowserPolicy& policy, Method method, http::Headers headers) {
  http::Request request;
  request.method = method;
  request.headers = std::move(headers);
  const auto refused = policy.refuse(request);
  return refused ? refused->status : 200;
}

const std::pair<std::string, std::string> kJson{"content-type", "application/json"};
const std::pair<std::string, std::string> kHere{"host", "127.0.0.1:7700"};

TEST(BrowserPolicyTest, OnlyLoopbackNamesAreAtHomeByDefault) {
  const BrowserPolicy policy;
  EXPECT_EQ(status(policy, Method::kGet, {}), 200) << "no browser leaves Host out";
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "localhost:7700"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "[::1]:7700"}, {"origin", "http://127.0.0.1:7700"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {kHere, {"origin", "http://localhost:5173"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "rebound.example:7700"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "10.0.0.5:7700"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", ""}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {kHere, {"origin", "https://evil.example"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {kHere, {"origin", "null"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {kHere, {"origin", ""}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {kHere, {"origin", "http://localhost@evil.example"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "evil.example"}, {"origin", "http://evil.example"}}), 403)
      << "a rebound page is of one origin with its host";
}

TEST(BrowserPolicyTest, ListedHostsAndOriginsPass) {
  const BrowserPolicy policy({.hosts = {"docs.example.com"}, .origins = {"https://www.example.com"}});
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "Docs.Example.com"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "docs.example.com"}, {"origin", "https://docs.example.com"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "docs.example.com"}, {"origin", "https://www.example.com"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "docs.example.com"}, {"origin", "http://www.example.com"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "docs.example.com"}, {"origin", "https://www.example.com.evil"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "docs.example.com.evil"}}), 403);
}

TEST(BrowserPolicyTest, AddressesPassForAServerThatListensBeyondLoopback) {
  const BrowserPolicy policy({.hosts = {}, .origins = {}, .address_hosts = true});
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "10.0.0.5:7700"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "10.0.0.5:7700"}, {"origin", "http://10.0.0.5:7700"}}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "10.0.0.5:7700"}, {"origin", "http://10.0.0.6:7700"}}), 403);
  EXPECT_EQ(status(policy, Method::kGet, {{"host", "rebound.example"}}), 403);
}

TEST(BrowserPolicyTest, WhatAPageOfAnotherSiteLoadsIsRefused) {
  const BrowserPolicy policy({.origins = {"https://www.example.com"}, .open_prefix = "/open/", .embeddable = {"/widget.js"}});
  const auto load = [&](std::string path, std::string_view site, std::string_view mode, std::string_view dest, Method method = Method::kGet,
                        http::Headers more = {}) {
    http::Request request;
    request.method = method;
    request.path = std::move(path);
    request.headers = std::move(more);
    request.headers.add("host", "127.0.0.1:7700");
    request.headers.add("sec-fetch-site", site);
    request.headers.add("sec-fetch-mode", mode);
    request.headers.add("sec-fetch-dest", dest);
    const auto refused = policy.refuse(request);
    return refused ? refused->status : 200;
  };
  EXPECT_EQ(load("/api/search", "cross-site", "no-cors", "image"), 403);
  EXPECT_EQ(load("/api/search", "cross-site", "no-cors", "script"), 403);
  EXPECT_EQ(load("/", "cross-site", "navigate", "iframe"), 403);
  EXPECT_EQ(load("/", "cross-site", "navigate", "document"), 200) << "a link that a person follows";
  EXPECT_EQ(load("/", "cross-site", "navigate", "document", Method::kPost, {kJson}), 403);
  EXPECT_EQ(load("/widget.js", "cross-site", "no-cors", "script"), 200);
  EXPECT_EQ(load("/open/init", "cross-site", "cors", "empty"), 200);
  EXPECT_EQ(load("/api/search", "cross-site", "cors", "empty", Method::kGet, {{"origin", "https://www.example.com"}}), 200);
  for (const char* site : {"same-origin", "same-site", "none"}) EXPECT_EQ(load("/api/search", site, "no-cors", "image"), 200) << site;
}

TEST(BrowserPolicyTest, AnswersOfTheApiAreNeitherKeptNorEmbedded) {
  const BrowserPolicy policy({.origins = {"https://www.example.com"}, .open_prefix = "/open/"});
  const auto headers_of = [&](std::string path, http::Headers asked, http::Headers given) {
    http::Request request;
    request.path = std::move(path);
    request.headers = std::move(asked);
    policy.add_safety_headers(request, given);
    return given;
  };
  const http::Headers json{{"content-type", "application/json"}};
  const http::Headers own = headers_of("/api/search", {}, json);
  EXPECT_EQ(own.find("x-content-type-options"), "nosniff");
  EXPECT_EQ(own.find("cache-control"), "no-store");
  EXPECT_EQ(own.find("cross-origin-resource-policy"), "same-origin");
  EXPECT_FALSE(headers_of("/open/init", {}, json).contains("cross-origin-resource-policy"));
  EXPECT_FALSE(headers_of("/api/search", {{"origin", "https://www.example.com"}}, json).contains("cross-origin-resource-policy"));
  EXPECT_EQ(headers_of("/x", {}, {{"content-type", "application/json"}, {"cache-control", "max-age=60"}}).find("cache-control"),
            "max-age=60");
  const http::Headers page = headers_of("/", {}, {{"content-type", "text/html; charset=utf-8"}});
  EXPECT_EQ(page.find("x-content-type-options"), "nosniff");
  EXPECT_FALSE(page.contains("cache-control"));
}

TEST(BrowserPolicyTest, WhatAFormCanSendChangesNothing) {
  const BrowserPolicy policy;
  for (const Method method : {Method::kPost, Method::kPut, Method::kPatch}) {
    EXPECT_EQ(status(policy, method, {kHere}), 415);
    for (const auto* type :
         {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "json", ""}) {
      EXPECT_EQ(status(policy, method, {kHere, {"content-type", type}}), 415) << type;
    }
    EXPECT_EQ(status(policy, method, {kHere, kJson}), 200);
    EXPECT_EQ(status(policy, method, {kHere, {"content-type", "Application/JSON; charset=utf-8"}}), 200);
    EXPECT_EQ(status(policy, method, {kHere, {"x-footnote-request", "1"}, {"content-type", "multipart/form-data; boundary=x"}}), 200);
    EXPECT_EQ(status(policy, method, {kHere, {"authorization", "Bearer x"}, {"content-type", "multipart/form-data; boundary=x"}}), 200);
    EXPECT_EQ(status(policy, method, {kHere, {"authorization", "Bearer x"}, {"content-type", "text/plain"}}), 415);
  }
  EXPECT_EQ(status(policy, Method::kDelete, {kHere}), 200);
  EXPECT_EQ(status(policy, Method::kGet, {kHere}), 200);
}

http::Headers cors(const BrowserPolicy& policy, Method method, http::Headers headers) {
  http::Request request;
  request.method = method;
  request.headers = std::move(headers);
  http::Headers out{{"allow", "POST, OPTIONS"}};
  policy.add_cors_headers(request, out);
  return out;
}

TEST(BrowserPolicyTest, APreflightTellsAllowedPagesWhatTheyMaySend) {
  const BrowserPolicy policy({.hosts = {}, .origins = {"https://www.example.com"}});
  const auto good = cors(policy, Method::kOptions, {{"origin", "https://www.example.com"}, {"access-control-request-method", "POST"}});
  EXPECT_EQ(good.find("access-control-allow-origin"), "https://www.example.com");
  EXPECT_EQ(good.find("access-control-allow-methods"), "POST, OPTIONS");
  EXPECT_TRUE(good.contains("access-control-allow-headers"));
  EXPECT_FALSE(good.contains("access-control-allow-credentials"));
  const auto bad = cors(policy, Method::kOptions, {{"origin", "https://evil.example"}, {"access-control-request-method", "POST"}});
  EXPECT_FALSE(bad.contains("access-control-allow-origin"));
  EXPECT_FALSE(bad.contains("access-control-allow-methods"));
  EXPECT_EQ(bad.find("vary"), "origin");
  EXPECT_FALSE(cors(policy, Method::kPost, {}).contains("vary"));
}

TEST(BrowserPolicyTest, ListsAreChecked) {
  EXPECT_EQ(parse_allowed_hosts(" Docs.example.com, b ,"), (std::vector<std::string>{"docs.example.com", "b"}));
  EXPECT_EQ(parse_allowed_hosts("https://docs.example.com").error().field, "server.allowed_hosts");
  EXPECT_FALSE(parse_allowed_hosts("docs.example.com:80"));
  EXPECT_FALSE(parse_allowed_hosts("*.example.com"));
  EXPECT_EQ(parse_allowed_origins("https://WWW.example.com:8443"), (std::vector<std::string>{"https://www.example.com:8443"}));
  for (const auto* bad : {"www.example.com", "https://", "https://a/b", "*", "null", "https://*.example.com", "ftp://a"}) {
    EXPECT_EQ(parse_allowed_origins(bad).error().field, "server.allowed_origins") << bad;
  }
}

TEST(BrowserPolicyTest, OnlyOwnPagesMayUseACookie) {
  const auto own = [](Method method, http::Headers headers) {
    http::Request request;
    request.method = method;
    request.headers = std::move(headers);
    return is_from_own_page(request);
  };
  EXPECT_TRUE(own(Method::kGet, {kHere}));
  EXPECT_TRUE(own(Method::kGet, {kHere, {"sec-fetch-site", "none"}})) << "a typed address";
  EXPECT_TRUE(own(Method::kGet, {kHere, {"sec-fetch-site", "same-origin"}}));
  EXPECT_TRUE(own(Method::kPost, {kHere, {"origin", "http://127.0.0.1:7700"}, {"sec-fetch-site", "same-origin"}}));
  EXPECT_TRUE(own(Method::kDelete, {kHere, {"origin", "http://127.0.0.1:7700"}}));
  EXPECT_FALSE(own(Method::kPost, {kHere})) << "a change must name its origin";
  EXPECT_FALSE(own(Method::kPost, {kHere, {"sec-fetch-site", "none"}}));
  EXPECT_FALSE(own(Method::kGet, {kHere, {"sec-fetch-site", "same-site"}})) << "a page on another port of this host";
  EXPECT_FALSE(own(Method::kGet, {kHere, {"sec-fetch-site", "cross-site"}}));
  EXPECT_FALSE(own(Method::kPost, {kHere, {"origin", "http://127.0.0.1:3000"}}));
  EXPECT_FALSE(own(Method::kPost, {kHere, {"origin", "http://127.0.0.1:7700"}, {"sec-fetch-site", "same-site"}}));
  EXPECT_FALSE(own(Method::kGet, {kHere, {"origin", "https://evil.example"}}));
  EXPECT_FALSE(own(Method::kGet, {kHere, {"origin", "null"}}));
  EXPECT_FALSE(own(Method::kPost, {{"host", ""}, {"origin", "http://"}}));
}

}  // namespace
}  // namespace footnote::api
