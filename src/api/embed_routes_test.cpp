#include "api/embed_routes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "api/embed_wire.h"
#include "api/route_for_test.h"
#include "contracts/stopped_call.h"
#include "fakes/fake_embedder.h"

namespace footnote::api {
namespace {

class EmbedRoutes : public ::testing::Test {
 protected:
  http::Response post(std::string_view pattern, std::string body, const CallContext& call = {}) {
    return testing::send(make_embed_routes({embedder_, "1.2.3"}), pattern, std::move(body), call);
  }
  Json good(std::string_view pattern, std::string body) {
    const http::Response response = post(pattern, std::move(body));
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.headers.find("content-type"), "application/json");
    return parse_json(response.body).value();
  }
  std::vector<float> vector_of(std::string_view text, VectorLength length = VectorLength::kUnit) {
    const std::string_view texts[] = {text};
    return embedder_.embed({}, texts, {.overflow = Overflow::kTruncate, .length = length})->at(0).windows.at(0).values;
  }
  static std::vector<float> floats(const Json& array) {
    std::vector<float> out;
    for (const Json& value : array.as_array()) out.push_back(static_cast<float>(value.to_number<double>()));
    return out;
  }

  fakes::FakeEmbedder embedder_{{.dimension = 64, .window_words = 8, .overlap_words = 2}};
};

TEST_F(EmbedRoutes, GivesTheVectorsOfATextOrAList) {
  const Json list = good("/embed", R"({"inputs":["quick harbour","slow meadow"]})");
  EXPECT_EQ(list.at("dim"), 64);
  EXPECT_EQ(list.at("normalize"), true);
  ASSERT_EQ(list.at("vectors").as_array().size(), 2U);
  EXPECT_EQ(floats(list.at("vectors").at(1)), vector_of("slow meadow"));
  EXPECT_EQ(good("/embed", R"({"inputs":"slow meadow","normalize":null})").at("vectors").at(0), list.at("vectors").at(1));
}

TEST_F(EmbedRoutes, GivesThePooledVectorWhenAskedNotToNormalise) {
  const Json pooled = good("/embed", R"({"inputs":["slow meadow"],"normalize":false})");
  EXPECT_EQ(pooled.at("normalize"), false);
  EXPECT_EQ(floats(pooled.at("vectors").at(0)), vector_of("slow meadow", VectorLength::kAsPooled));
  EXPECT_EQ(floats(good("/tei/embed", R"({"inputs":["slow meadow"],"normalize":false})").at(0)),
            vector_of("slow meadow", VectorLength::kAsPooled));
}

TEST_F(EmbedRoutes, SaysWhatItIs) {
  EXPECT_EQ(post("/health", "").body, R"({"ok":true,"model":"fake-bag-of-words"})");
  EXPECT_EQ(post("/model", "").body, R"({"model":"fake-bag-of-words","normalize":true,"dim":64,"inputs_max":2048})");
  EXPECT_EQ(post("/tei/health", "").status, 200);
  EXPECT_EQ(good("/tei/info", "").at("model_id"), "fake-bag-of-words");
  EXPECT_EQ(good("/tei/info", "").at("max_client_batch_size"), 2048);
}

TEST_F(EmbedRoutes, SpeaksOpenAisForm) {
  const Json answer = good("/v1/embeddings", R"({"model":"fake-bag-of-words","input":["slow meadow","x"],"user":"u"})");
  EXPECT_EQ(answer.at("object"), "list");
  EXPECT_EQ(answer.at("model"), "fake-bag-of-words");
  EXPECT_EQ(answer.at("data").at(1).at("index"), 1);
  EXPECT_EQ(answer.at("data").at(1).at("object"), "embedding");
  EXPECT_EQ(floats(answer.at("data").at(0).at("embedding")), vector_of("slow meadow"));
  EXPECT_EQ(answer.at("usage").at("prompt_tokens"), 3);
  EXPECT_EQ(answer.at("usage").at("total_tokens"), 3);
}

TEST_F(EmbedRoutes, Base64HoldsTheSameFloats) {
  const Json answer = good("/v1/embeddings", R"({"input":"slow meadow","encoding_format":"base64"})");
  const std::string text(answer.at("data").at(0).at("embedding").as_string());
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size() && text[i] != '='; ++i) {
    bits = bits << 6 | static_cast<std::uint32_t>(kAlphabet.find(text[i]));
    if (i % 4 != 0) bytes.push_back(static_cast<char>(bits >> (6 - 2 * (i % 4))));
  }
  const std::vector<float> expected = vector_of("slow meadow");
  ASSERT_EQ(bytes.size(), expected.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

TEST_F(EmbedRoutes, FewerDimensionsAreTheFirstOnesMadeOneLong) {
  const std::vector<float> cut =
      floats(good("/v1/embeddings", R"({"input":"slow meadow","dimensions":10})").at("data").at(0).at("embedding"));
  ASSERT_EQ(cut.size(), 10U);
  double squares = 0;
  for (const float value : cut) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares, 1, 1e-6);
  EXPECT_EQ(good("/v1/embeddings", R"({"input":"x","dimensions":64})").at("data").at(0).at("embedding").as_array().size(), 64U);
  for (const std::string_view bad : {"65", "0", "-1", "1.5", "\"8\""}) {
    const http::Response response = post("/v1/embeddings", fmt::format(R"({{"input":"x","dimensions":{}}})", bad));
    EXPECT_EQ(response.status, 400) << bad;
    EXPECT_EQ(parse_json(response.body)->at("error").at("param"), "dimensions");
  }
}

TEST(Shorten, LeavesNothingThatIsNoNumber) {
  std::vector<float> zeros{0, 0, 1};
  shorten(zeros, 2);
  EXPECT_EQ(zeros, (std::vector<float>{0, 0}));
}

TEST_F(EmbedRoutes, AnotherModelIsNotHere) {
  EXPECT_EQ(post("/v1/embeddings", R"({"input":"x","model":"publisher/fake-bag-of-words"})").status, 200);
  const http::Response response = post("/v1/embeddings", R"({"input":"x","model":"text-embedding-3-small"})");
  EXPECT_EQ(response.status, 404);
  const Json error = parse_json(response.body)->at("error");
  EXPECT_EQ(error.at("param"), "model");
  EXPECT_NE(error.at("message").as_string().find("fake-bag-of-words"), std::string::npos);
}

TEST_F(EmbedRoutes, WrongInputIsNamedInEachForm) {
  struct Bad {
    std::string_view value;
    int plain, openai, tei;
  };
  const Bad cases[] = {{"", 422, 400, 422},          {":null", 422, 400, 422},      {":[]", 422, 400, 422},
                       {":{}", 422, 400, 422},       {":7", 422, 400, 422},         {":[1,2]", 422, 400, 422},
                       {":[[1,2]]", 422, 400, 422},  {":[\"a\",7]", 422, 400, 422}, {":[\"a\",null]", 422, 400, 422},
                       {":\"\xFF\"", 400, 400, 400}, {":", 400, 400, 400}};
  for (const Bad& bad : cases) {
    const auto body = [&](std::string_view field) {
      return bad.value.empty() ? std::string("{}") : fmt::format("{{\"{}\"{}}}", field, bad.value);
    };
    EXPECT_EQ(post("/embed", body("inputs")).status, bad.plain) << bad.value;
    const http::Response openai = post("/v1/embeddings", body("input"));
    EXPECT_EQ(openai.status, bad.openai) << bad.value;
    EXPECT_EQ(parse_json(openai.body)->at("error").at("type"), "invalid_request_error");
    const http::Response tei = post("/tei/embed", body("inputs"));
    EXPECT_EQ(tei.status, bad.tei) << bad.value;
    EXPECT_TRUE(parse_json(tei.body)->at("error").is_string());
    EXPECT_TRUE(parse_json(tei.body)->at("error_type").is_string());
  }
  EXPECT_NE(post("/v1/embeddings", R"({"input":[1,2]})").body.find("token"), std::string::npos);
  EXPECT_EQ(post("/v1/embeddings", R"({"input":"x","encoding_format":"int8"})").status, 400);
  EXPECT_EQ(post("/embed", R"({"inputs":"x","normalise":true})").status, 422);
  EXPECT_EQ(post("/embed", R"({"inputs":"x","normalize":1})").status, 422);
  EXPECT_EQ(post("/embed", "[]").status, 400);
}

TEST_F(EmbedRoutes, TextsAreBoundedPerRequest) {
  const auto body = [](std::string_view field, std::size_t count) {
    std::string out = fmt::format(R"({{"{}":["x")", field);
    for (std::size_t i = 1; i < count; ++i) out += R"(,"x")";
    return out + "]}";
  };
  EXPECT_EQ(good("/embed", body("inputs", kEmbedTextsMax)).at("vectors").as_array().size(), kEmbedTextsMax);
  EXPECT_EQ(post("/embed", body("inputs", kEmbedTextsMax + 1)).status, 413);
  EXPECT_EQ(post("/v1/embeddings", body("input", kEmbedTextsMax + 1)).status, 413);
  const http::Response tei = post("/tei/embed", body("inputs", kEmbedTextsMax + 1));
  EXPECT_EQ(tei.status, 413);
  EXPECT_EQ(parse_json(tei.body)->at("error_type"), "Validation");
  EXPECT_NE(tei.body.find("2048"), std::string::npos);
}

TEST_F(EmbedRoutes, LongTextsAreCutButByTeiOnlyWhenAsked) {
  const std::string text = "harbour meadow lantern copper signal archive window kettle orchard compass";
  const Json cut = good("/embed", fmt::format(R"({{"inputs":"{}"}})", text));
  EXPECT_EQ(floats(cut.at("vectors").at(0)), vector_of(text));
  EXPECT_EQ(post("/tei/embed", fmt::format(R"({{"inputs":"{}"}})", text)).status, 413);
  EXPECT_EQ(good("/tei/embed", fmt::format(R"({{"inputs":"{}","truncate":true}})", text)).at(0), cut.at("vectors").at(0));
  EXPECT_EQ(post("/tei/embed", R"({"inputs":"x","truncation_direction":"Left"})").status, 422);
  EXPECT_EQ(post("/tei/embed", R"({"inputs":"x","prompt_name":"query"})").status, 422);
}

TEST_F(EmbedRoutes, AFullQueueIs429AndSaysWhenToComeBack) {
  embedder_.faults().fail_after(0, ErrorCode::kResourceExhausted);
  for (const auto& [pattern, field] : {std::pair{"/embed", "inputs"}, {"/v1/embeddings", "input"}, {"/tei/embed", "inputs"}}) {
    const http::Response response = post(pattern, fmt::format(R"({{"{}":"x"}})", field));
    EXPECT_EQ(response.status, 429) << pattern;
    EXPECT_EQ(response.headers.find("retry-after"), "1");
  }
  EXPECT_EQ(parse_json(post("/tei/embed", R"({"inputs":"x"})").body)->at("error_type"), "Overloaded");
  EXPECT_EQ(parse_json(post("/v1/embeddings", R"({"input":"x"})").body)->at("error").at("type"), "rate_limit_error");
}

TEST_F(EmbedRoutes, WhatTheEmbedderCantDoNamesTheField) {
  embedder_.faults().fail_after(0, ErrorCode::kUnsupported);
  const http::Response response = post("/embed", R"({"inputs":"x","normalize":false})");
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(parse_json(response.body)->at("error").at("field"), "normalize");
}

TEST_F(EmbedRoutes, EndsWithItsCaller) {
  EXPECT_EQ(post("/embed", R"({"inputs":"x"})", contract::stopped_call()).status, 499);
  EXPECT_EQ(post("/v1/embeddings", R"({"input":"x"})", CallContext::with_timeout(std::chrono::milliseconds{-1})).status, 504);
}

TEST_F(EmbedRoutes, AFailedBackendIs424InTeisForm) {
  embedder_.faults().fail_after(0, ErrorCode::kInternal);
  const http::Response response = post("/tei/embed", R"({"inputs":"x"})");
  EXPECT_EQ(response.status, 424);
  EXPECT_EQ(parse_json(response.body)->at("error_type"), "Backend");
}

}  // namespace
}  // namespace footnote::api
