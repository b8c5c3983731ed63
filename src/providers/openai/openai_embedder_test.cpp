#include "providers/openai/openai_embedder.h"

#include <gtest/gtest.h>

#include <atomic>

#include "contracts/embedder_contract.h"
#include "fakes/fake_embedder.h"
#include "providers/remote/upstream_for_test.h"

namespace footnote {
namespace {

using testing::TestUpstream;

CallContext patient() { return CallContext::with_timeout(std::chrono::seconds{20}); }

/// A server backed by the fake embedder; returns entries in reverse order, with their index.
http::Response embed_with(Embedder& embedder, const http::Request& request) {
  const Json body = parse_json(request.body).value();
  std::vector<std::string> texts;
  for (const Json& text : body.at("input").as_array()) texts.emplace_back(text.as_string());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto embeddings = embedder.embed({}, views, {.overflow = Overflow::kTruncate});
  JsonArray data;
  for (std::size_t i = texts.size(); i-- > 0;) {
    JsonArray vector;
    for (const float value : embeddings->at(i).windows.at(0).values) vector.push_back(json_number(value));
    data.push_back(JsonObject{{"object", "embedding"}, {"index", i}, {"embedding", std::move(vector)}});
  }
  return http::Response::json(200, JsonObject{{"data", std::move(data)}, {"usage", JsonObject{{"prompt_tokens", texts.size() * 3 + 1}}}});
}

struct Connected {
  explicit Connected(http::Handler handler) : server({{"/v1/embeddings", std::move(handler)}}) {}
  Result<std::unique_ptr<OpenAiEmbedder>> open(int dimension = 0) {
    return OpenAiEmbedder::open(patient(), server.client(), {server.options("/v1"), "asked-model", dimension});
  }
  TestUpstream server;
};

std::shared_ptr<Embedder> make_openai() {
  struct Whole {
    fakes::FakeEmbedder fake;
    Connected connected{[this](const http::Request& request, const CallContext&) { return embed_with(fake, request); }};
    std::unique_ptr<Embedder> embedder = connected.open().value();
  };
  const auto whole = std::make_shared<Whole>();
  return {whole, whole->embedder.get()};
}

}  // namespace

namespace contract {
namespace {

INSTANTIATE_TEST_SUITE_P(OpenAi, EmbedderContract,
                         ::testing::Values(EmbedderCase{"openai", make_openai, {.tokens = false, .pooled_length = false}}),
                         embedder_case_name);

}  // namespace
}  // namespace contract

namespace {

http::Handler answers(std::string body) {
  return [body = std::move(body)](const http::Request&, const CallContext&) { return http::Response::text(200, "application/json", body); };
}

TEST(OpenAiEmbedder, SaysWhatItWantsAndCountsTokens) {
  fakes::FakeEmbedder fake;
  Json seen;
  Connected connected([&](const http::Request& request, const CallContext&) {
    seen = parse_json(request.body).value();
    return embed_with(fake, request);
  });
  const auto embedder = connected.open();
  ASSERT_TRUE(embedder.has_value()) << embedder.error().message;
  EXPECT_EQ((*embedder)->space(), (EmbeddingSpace{"asked-model", 128}));
  const std::string_view texts[] = {"a", "", "c"};
  const auto embeddings = (*embedder)->embed(patient(), texts, {});
  ASSERT_TRUE(embeddings.has_value()) << embeddings.error().message;
  EXPECT_EQ(to_text(seen), R"({"model":"asked-model","input":["a"," ","c"],"encoding_format":"float"})");
  EXPECT_EQ(embeddings->at(0).tokens + embeddings->at(1).tokens + embeddings->at(2).tokens, 10U);
}

TEST(OpenAiEmbedder, AModelThatCanShortenIsAskedTo) {
  const auto shortens = [](const http::Request& request, const CallContext&) {
    const Json body = parse_json(request.body).value();
    const Json* wanted = body.as_object().if_contains("dimensions");
    return http::Response::text(200, "application/json",
                                fmt::format(R"({{"data":[{{"embedding":{}}}]}})", wanted == nullptr ? "[1,2,3,4]" : "[3,4]"));
  };
  Connected connected(shortens);
  EXPECT_EQ((*connected.open())->space().dimension, 4);
  const auto embedder = connected.open(2);
  ASSERT_TRUE(embedder.has_value()) << embedder.error().message;
  EXPECT_EQ((*embedder)->space().dimension, 2);
  const std::string_view texts[] = {"x"};
  EXPECT_EQ((*embedder)->embed(patient(), texts, {})->at(0).windows.at(0).values, (std::vector<float>{0.6F, 0.8F}));
}

TEST(OpenAiEmbedder, AnotherDimensionThanConfiguredIsSaidAtTheStart) {
  Connected ignores(answers(R"({"data":[{"embedding":[1,2,3,4]}]})"));
  Connected refuses([](const http::Request& request, const CallContext&) {
    const bool asked = parse_json(request.body)->as_object().contains("dimensions");
    return http::Response::text(asked ? 400 : 200, "application/json", R"({"data":[{"embedding":[1,2,3,4]}]})");
  });
  for (Connected* connected : {&ignores, &refuses}) {
    for (const int configured : {2, 5}) {
      const auto opened = connected->open(configured);
      ASSERT_FALSE(opened.has_value());
      EXPECT_EQ(opened.error().code, ErrorCode::kFailedPrecondition);
      EXPECT_NE(opened.error().message.find("of 4 numbers"), std::string::npos) << opened.error().message;
    }
  }
}

TEST(OpenAiEmbedder, AnswersThatCantBeUsedAreRefused) {
  for (const std::string_view bad :
       {"[]", "{}", R"({"data":[]})", R"({"data":[{}]})", R"({"data":[{"embedding":"AACAPw=="}]})", R"({"data":[{"embedding":[1,"x"]}]})",
        R"({"data":[{"index":1,"embedding":[1]}]})", R"({"data":[{"index":-1,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})", R"({"error":{"message":"own words"}})"}) {
    Connected connected((answers(std::string(bad))));
    const auto opened = connected.open();
    ASSERT_FALSE(opened.has_value()) << bad;
    EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable) << bad;
    EXPECT_EQ(opened.error().message.find("own words"), std::string::npos);
  }
}

TEST(OpenAiEmbedder, TriesAgainWhenTheServerIsBusy) {
  std::atomic<int> calls = 0;
  Connected connected([&](const http::Request&, const CallContext&) {
    return calls++ < 2 ? http::Response::json(429, JsonObject{})
                       : http::Response::text(200, "application/json", R"({"data":[{"embedding":[1]}]})");
  });
  ASSERT_TRUE(connected.open().has_value());
  EXPECT_EQ(calls, 3);
}

TEST(OpenAiEmbedder, ARefusedKeyNamesItsSettingAndNotItself) {
  Connected connected([](const http::Request&, const CallContext&) { return http::Response::json(401, JsonObject{}); });
  const auto opened = connected.open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("EMBEDDER_KEY"), std::string::npos);
  EXPECT_EQ(opened.error().message.find("canary"), std::string::npos);
}

}  // namespace
}  // namespace footnote
