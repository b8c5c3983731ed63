#include "providers/remote/qdrant_search.h"

#include <gtest/gtest.h>

#include "providers/remote/upstream_for_test.h"

namespace footnote {
namespace {

using http::Request, http::Response;

constexpr std::string_view kPoint = R"({"id":1,"score":0.5,"payload":{"url":"u","text":"t","n":7},"vector":[1,0.5]})";
constexpr float kQuestion[] = {1, 0};

http::Handler answering(int status, std::string body) {
  return [=](const Request&, const CallContext&) { return Response::text(status, "application/json", body); };
}

Result<std::vector<RemotePoint>> ask(http::Handler query, http::Handler search, int times = 1) {
  testing::TestUpstream upstream(
      {{"/collections/{name}/points/query", std::move(query)}, {"/collections/{name}/points/search", std::move(search)}});
  QdrantSearch qdrant(upstream.client(), {.url = upstream.url(), .key = "sk-canary"});
  for (; times > 1; --times) (void)qdrant.nearest({}, "memory", kQuestion, 3);
  return qdrant.nearest({}, "memory", kQuestion, 3);
}

void expect_point(const Result<std::vector<RemotePoint>>& points) {
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_EQ(points->size(), 1u);
  EXPECT_EQ(points->front().score, 0.5);
  EXPECT_EQ(points->front().url, "u");
  EXPECT_EQ(points->front().text, "t");
  EXPECT_EQ(points->front().vector, (std::vector<float>{1, 0.5}));
}

TEST(QdrantSearch, AsksByQuery) {
  expect_point(ask(
      [](const Request& request, const CallContext&) {
        EXPECT_EQ(request.body, R"({"query":[1,0],"limit":3,"with_payload":true,"with_vector":true})");
        EXPECT_EQ(request.headers.find("api-key"), "sk-canary");
        EXPECT_EQ(request.param("name"), "memory");
        return Response::text(200, "application/json", fmt::format(R"({{"result":{{"points":[{}]}}}})", kPoint));
      },
      answering(500, "")));
}

TEST(QdrantSearch, OlderServersAreAskedBySearch) {
  int queries = 0;
  const auto query = [&](const Request&, const CallContext&) {
    ++queries;
    return Response::text(404, "application/json", "");
  };
  const auto search = [](const Request& request, const CallContext&) {
    EXPECT_EQ(request.body, R"({"vector":[1,0],"limit":3,"with_payload":true,"with_vector":true})");
    return Response::text(200, "application/json", fmt::format(R"({{"result":[{}]}})", kPoint));
  };
  expect_point(ask(query, search, 3));
  EXPECT_EQ(queries, 1) << "an unsupported endpoint is tried once";
}

TEST(QdrantSearch, PartsThatAreNotThereAreEmpty) {
  const auto points =
      ask(answering(200, R"({"result":{"points":[{"score":1},{"score":1,"payload":{"url":7},"vector":{"a":[3]}}]}})"), answering(500, ""));
  ASSERT_TRUE(points);
  EXPECT_EQ(points->at(0).url, "");
  EXPECT_TRUE(points->at(0).vector.empty());
  EXPECT_EQ(points->at(1).vector, std::vector<float>{3});
}

TEST(QdrantSearch, FailuresAreTold) {
  const auto code_of = [](int status, std::string body) { return ask(answering(status, body), answering(status, body)).error().code; };
  EXPECT_EQ(code_of(404, ""), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(400, ""), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(code_of(401, ""), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(500, "words of theirs"), ErrorCode::kUnavailable);
  for (const char* body : {"", "[]", "{}", R"({"result":7})", R"({"result":[7]})", R"({"result":[{"score":"x"}]})"}) {
    EXPECT_EQ(code_of(200, body), ErrorCode::kUnavailable) << body;
  }
  testing::ClosedPort closed;
  Metrics metrics;
  http::Client client({}, metrics);
  QdrantSearch away(client, {.url = fmt::format("http://127.0.0.1:{}", closed.number()), .key = {}});
  EXPECT_NE(away.nearest({}, "memory", kQuestion, 3).error().message.find("QDRANT_URL"), std::string::npos);
}

}  // namespace
}  // namespace footnote
