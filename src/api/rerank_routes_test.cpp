#include "api/rerank_routes.h"

#include <gtest/gtest.h>

#include "api/route_for_test.h"
#include "fakes/fake_reranker.h"

namespace footnote::api {
namespace {

constexpr std::string_view kCohere = R"({"model":"m","query":"shipping time","documents":["The cat sleeps.",
  {"text":"Shipping takes time."},"Shipping is free."]OPTIONS})";

class RerankRoutes : public ::testing::Test {
 protected:
  http::Response post(std::string_view pattern, std::string body) {
    return testing::send(make_rerank_routes({&reranker_}), pattern, std::move(body));
  }
  Json good(std::string_view pattern, std::string body) {
    const http::Response response = post(pattern, std::move(body));
    EXPECT_EQ(response.status, 200) << response.body;
    return parse_json(response.body).value();
  }
  static std::string cohere(std::string_view options = "") {
    std::string out(kCohere);
    return out.replace(out.find("OPTIONS"), 7, options);
  }

  fakes::FakeReranker reranker_;
};

TEST_F(RerankRoutes, BestFirstWithItsPlaceInTheRequest) {
  for (const std::string_view pattern : {"/v1/rerank", "/v2/rerank"}) {
    const Json answer = good(pattern, cohere());
    const JsonArray& results = answer.at("results").as_array();
    ASSERT_EQ(results.size(), 3U);
    EXPECT_EQ(results[0].at("index"), 1);
    EXPECT_EQ(results[0].at("relevance_score"), 1);
    EXPECT_EQ(results[1].at("index"), 2);
    EXPECT_EQ(results[2].at("index"), 0);
    EXPECT_FALSE(results[0].as_object().contains("document"));
    EXPECT_EQ(answer.at("id"), "request-1");
  }
}

TEST_F(RerankRoutes, EqualScoresKeepTheOrderOfTheRequest) {
  const Json answer = good("/v1/rerank", R"({"query":"harbour","documents":["a b","c d","e f"]})");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answer.at("results").at(static_cast<std::size_t>(i)).at("index"), i);
}

TEST_F(RerankRoutes, AsManyAsAskedForWithTheirTexts) {
  const Json answer = good("/v1/rerank", cohere(R"(,"top_n":1,"return_documents":true)"));
  ASSERT_EQ(answer.at("results").as_array().size(), 1U);
  EXPECT_EQ(answer.at("results").at(0).at("document").at("text"), "Shipping takes time.");
  EXPECT_EQ(good("/v1/rerank", cohere(R"(,"top_n":99)")).at("results").as_array().size(), 3U);
}

TEST_F(RerankRoutes, SpeaksTeisForm) {
  const std::string body = R"({"query":"shipping time","texts":["The cat sleeps.","Shipping takes time."]OPTIONS})";
  const auto with = [&](std::string_view options) { return std::string(body).replace(body.find("OPTIONS"), 7, options); };
  const Json answer = good("/tei/rerank", with(""));
  ASSERT_TRUE(answer.is_array());
  EXPECT_EQ(answer.at(0).at("index"), 1);
  EXPECT_EQ(answer.at(0).at("score"), 1);
  EXPECT_FALSE(answer.at(0).as_object().contains("text"));
  EXPECT_EQ(good("/tei/rerank", with(R"(,"raw_scores":true)")).at(0).at("score"), 5);
  EXPECT_EQ(good("/tei/rerank", with(R"(,"return_text":true)")).at(0).at("text"), "Shipping takes time.");
}

TEST_F(RerankRoutes, WrongInputIsNamed) {
  const auto param = [&](std::string body) {
    const http::Response response = post("/v1/rerank", std::move(body));
    EXPECT_EQ(response.status, 400);
    return std::string(parse_json(response.body)->at("error").at("param").as_string());
  };
  EXPECT_EQ(param(R"({"documents":["a"]})"), "query");
  EXPECT_EQ(param(R"({"query":"  ","documents":["a"]})"), "query");
  EXPECT_EQ(param(R"({"query":"q"})"), "documents");
  EXPECT_EQ(param(R"({"query":"q","documents":[]})"), "documents");
  EXPECT_EQ(param(R"({"query":"q","documents":["a",{"title":"b"}]})"), "documents[1]");
  EXPECT_EQ(param(R"({"query":"q","documents":["a"],"top_n":0})"), "top_n");
  EXPECT_EQ(post("/tei/rerank", R"({"query":"q","texts":[]})").status, 422);
}

TEST_F(RerankRoutes, PassagesAreBoundedPerRequest) {
  const auto body = [](std::string_view field, std::size_t count) {
    std::string out = fmt::format(R"({{"query":"q","{}":["x")", field);
    for (std::size_t i = 1; i < count; ++i) out += R"(,"x")";
    return out + "]}";
  };
  EXPECT_EQ(good("/v1/rerank", body("documents", kRerankPassagesMax)).at("results").as_array().size(), kRerankPassagesMax);
  EXPECT_EQ(post("/v1/rerank", body("documents", kRerankPassagesMax + 1)).status, 413);
  EXPECT_EQ(post("/tei/rerank", body("texts", kRerankPassagesMax + 1)).status, 413);
}

TEST(RerankRoutesWithoutAReranker, SayHowToAddOne) {
  const auto routes = make_rerank_routes({nullptr});
  for (const auto& [pattern, field] : {std::pair{"/v1/rerank", "documents"}, {"/v2/rerank", "documents"}, {"/tei/rerank", "texts"}}) {
    const http::Response response = testing::send(routes, pattern, fmt::format(R"({{"query":"q","{}":["x"]}})", field));
    EXPECT_EQ(response.status, 503) << pattern;
    EXPECT_NE(response.body.find("footnote models add"), std::string::npos);
    EXPECT_NE(response.body.find("reranker.model"), std::string::npos);
    EXPECT_FALSE(response.headers.contains("retry-after")) << "it will not be there in a second";
    EXPECT_EQ(response.headers.find("x-should-retry"), "false");
  }
}

}  // namespace
}  // namespace footnote::api
