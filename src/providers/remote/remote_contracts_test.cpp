#include <gtest/gtest.h>

#include <atomic>

#include "contracts/embedder_contract.h"
#include "contracts/reranker_contract.h"
#include "fakes/fake_embedder.h"
#include "fakes/fake_reranker.h"
#include "providers/remote/embed_service_embedder.h"
#include "providers/remote/remote_rerankers.h"
#include "providers/remote/upstream_for_test.h"

namespace footnote {
namespace {

using testing::TestUpstream;

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> out;
  for (const Json& text : list.as_array()) out.emplace_back(text.as_string());
  return out;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// A service backed by the fake embedder.
http::Response embed_with(Embedder& embedder, const http::Request& request) {
  const Json body = parse_json(request.body).value();
  const auto texts = texts_of(body.at("inputs"));
  const bool normalize = body.at("normalize").as_bool();
  const auto embeddings = embedder.embed(
      {}, views(texts), {.overflow = Overflow::kTruncate, .length = normalize ? VectorLength::kUnit : VectorLength::kAsPooled});
  JsonArray vectors;
  for (const Embedding& embedding : *embeddings) {
    JsonArray vector;
    for (const float value : embedding.windows.at(0).values) vector.push_back(json_number(value));
    vectors.push_back(std::move(vector));
  }
  return http::Response::json(200,
                              JsonObject{{"vectors", std::move(vectors)}, {"normalize", normalize}, {"dim", embedder.space().dimension}});
}

http::Response health(const http::Request&, const CallContext&) {
  return http::Response::json(200, JsonObject{{"ok", true}, {"model", "served-model"}});
}

CallContext patient() { return CallContext::with_timeout(std::chrono::seconds{20}); }

/// A service, and the embedder that uses it.
struct Service {
  explicit Service(http::Handler embed) : server({{"/embed", std::move(embed)}, {"GET /health", health}}) {}
  Result<std::unique_ptr<EmbedServiceEmbedder>> open(int dimension = 0, std::string model = "") {
    return EmbedServiceEmbedder::open(patient(), server.client(), {server.options(), std::move(model), dimension});
  }
  TestUpstream server;
};

std::shared_ptr<Embedder> make_embed_service() {
  struct Connected {
    fakes::FakeEmbedder fake;
    TestUpstream server{{{"/embed", [this](const http::Request& request, const CallContext&) { return embed_with(fake, request); }},
                         {"GET /health", health}}};
    std::unique_ptr<Embedder> embedder = EmbedServiceEmbedder::open(patient(), server.client(), {server.options(), "", 0}).value();
  };
  const auto connected = std::make_shared<Connected>();
  return {connected, connected->embedder.get()};
}

template <class Make>
std::shared_ptr<Reranker> reranker_over(http::Handler handler, const Make& make, std::string path = "/v1/rerank") {
  struct Connected {
    Connected(std::string path, http::Handler handler) : server({{std::move(path), std::move(handler)}}) {}
    TestUpstream server;
    std::unique_ptr<Reranker> reranker;
  };
  const auto connected = std::make_shared<Connected>(std::move(path), std::move(handler));
  connected->reranker = make(connected->server);
  return {connected, connected->reranker.get()};
}

/// Best first, like real servers.
JsonArray ranked(const std::vector<Judgement>& scores, std::string_view key, double Judgement::* score) {
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a].raw > scores[b].raw; });
  JsonArray out;
  for (const std::size_t index : order) out.push_back(JsonObject{{"index", index}, {key, scores[index].*score}});
  return out;
}

std::vector<Judgement> fake_scores(const Json& body, std::string_view key) {
  fakes::FakeReranker fake;
  const auto texts = texts_of(body.at(key));
  return fake.rerank({}, std::string(body.at("query").as_string()), views(texts)).value();
}

http::Response answer_cohere(const http::Request& request, const CallContext&) {
  const Json body = parse_json(request.body).value();
  return http::Response::json(200,
                              JsonObject{{"results", ranked(fake_scores(body, "documents"), "relevance_score", &Judgement::calibrated)}});
}

http::Response answer_tei(const http::Request& request, const CallContext&) {
  const Json body = parse_json(request.body).value();
  return http::Response::json(200, ranked(fake_scores(body, "texts"), "score", &Judgement::raw));
}

http::Response answer_cloudflare(const http::Request& request, const CallContext&) {
  const Json body = parse_json(request.body).value();
  std::vector<std::string> texts;
  for (const Json& context : body.at("contexts").as_array()) texts.emplace_back(context.at("text").as_string());
  fakes::FakeReranker fake;
  JsonArray response;
  const auto scores = fake.rerank({}, std::string(body.at("query").as_string()), views(texts)).value();
  for (std::size_t i = scores.size(); i-- > 0;) response.push_back(JsonObject{{"id", i}, {"score", scores[i].calibrated}});
  return http::Response::json(200, JsonObject{{"result", JsonObject{{"response", std::move(response)}}}, {"success", true}});
}

std::shared_ptr<Reranker> make_cloudflare(http::Handler handler = answer_cloudflare) {
  return reranker_over(
      std::move(handler),
      [](TestUpstream& server) {
        return std::make_unique<CloudflareReranker>(server.client(), server.options("/v1"), "account", CloudflareReranker::kDefaultModel);
      },
      "/v1/accounts/account/ai/run/@cf/baai/bge-reranker-base");
}

std::shared_ptr<Reranker> make_cohere(http::Handler handler = answer_cohere) {
  return reranker_over(std::move(handler),
                       [](TestUpstream& server) { return std::make_unique<CohereReranker>(server.client(), server.options("/v1"), "m"); });
}

std::shared_ptr<Reranker> make_tei(http::Handler handler = answer_tei) {
  return reranker_over(std::move(handler),
                       [](TestUpstream& server) { return std::make_unique<TeiReranker>(server.client(), server.options("/v1")); });
}

}  // namespace

namespace contract {
namespace {

INSTANTIATE_TEST_SUITE_P(EmbedService, EmbedderContract,
                         ::testing::Values(EmbedderCase{"embed_service", make_embed_service, {.tokens = false}}), embedder_case_name);

INSTANTIATE_TEST_SUITE_P(Remote, RerankerContract,
                         ::testing::Values(RerankerCase{"cohere", [] { return make_cohere(); }},
                                           RerankerCase{"tei", [] { return make_tei(); }},
                                           RerankerCase{"cloudflare", [] { return make_cloudflare(); }}),
                         reranker_case_name);

}  // namespace
}  // namespace contract

namespace {

http::Handler answers(std::string body) {
  return [body = std::move(body)](const http::Request&, const CallContext&) { return http::Response::text(200, "application/json", body); };
}

TEST(EmbedServiceEmbedder, LearnsModelAndDimension) {
  Service service(answers(R"({"vectors":[[3,4]],"normalize":true,"dim":2})"));
  EXPECT_EQ((*service.open())->space(), (EmbeddingSpace{"served-model", 2}));
  EXPECT_EQ((*service.open(2, "configured"))->space(), (EmbeddingSpace{"configured", 2}));
}

TEST(EmbedServiceEmbedder, AnotherDimensionThanConfiguredIsSaidAtTheStart) {
  Service service(answers(R"({"vectors":[[3,4]],"normalize":true,"dim":2})"));
  const auto opened = service.open(384);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(opened.error().message.find("EMBEDDER_DIMENSION"), std::string::npos);
  EXPECT_NE(opened.error().message.find("384"), std::string::npos);
}

TEST(EmbedServiceEmbedder, VectorsAreMadeOneLong) {
  Service service(answers(R"({"vectors":[[3,4]],"normalize":true,"dim":2})"));
  const auto embedder = service.open();
  const std::string_view texts[] = {"x"};
  EXPECT_EQ((*embedder)->embed(patient(), texts, {})->at(0).windows.at(0).values, (std::vector<float>{0.6F, 0.8F}));
  EXPECT_EQ((*embedder)->embed(patient(), texts, {.length = VectorLength::kAsPooled}).error().code, ErrorCode::kUnsupported)
      << "the service says that it normalised all the same";
}

TEST(EmbedServiceEmbedder, AnswersThatCantBeUsedAreRefused) {
  for (const std::string_view bad :
       {"[]", "{}", R"({"vectors":[]})", R"({"vectors":[[1,2],[3,4]]})", R"({"vectors":[[]]})", R"({"vectors":[[1,"2"]]})",
        R"({"vectors":[[1,null]]})", R"({"vectors":[[1,1e300]]})", R"({"vectors":[7]})", R"({"vectors":"x"})", "not json"}) {
    Service service(answers(std::string(bad)));
    const auto opened = service.open();
    ASSERT_FALSE(opened.has_value()) << bad;
    EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable) << bad;
  }
}

TEST(EmbedServiceEmbedder, DimensionsReachTheirBound) {
  const auto vector_of = [](std::size_t dimension) {
    std::string out = R"({"vectors":[[1)";
    for (std::size_t i = 1; i < dimension; ++i) out += ",0.5";
    return out + "]]}";
  };
  Service most(answers(vector_of(4'096)));
  EXPECT_EQ((*most.open())->space().dimension, 4'096);
  Service more(answers(vector_of(4'097)));
  EXPECT_FALSE(more.open().has_value());
}

TEST(EmbedServiceEmbedder, AVectorThatChangesItsDimensionOrIsZeroIsRefused) {
  for (const std::string_view later : {R"({"vectors":[[1,2,3]]})", R"({"vectors":[[0,0]]})", R"({"vectors":[[1,2],[3,4]]})"}) {
    std::atomic<int> calls = 0;
    Service service([&](const http::Request&, const CallContext&) {
      return http::Response::text(200, "application/json", calls++ == 0 ? R"({"vectors":[[3,4]]})" : std::string(later));
    });
    const auto embedder = service.open();
    const std::string_view texts[] = {"x"};
    EXPECT_EQ((*embedder)->embed(patient(), texts, {}).error().code, ErrorCode::kUnavailable) << later;
  }
}

TEST(EmbedServiceEmbedder, AServiceWithoutANameNeedsOneConfigured) {
  TestUpstream server({{"/embed", answers(R"({"vectors":[[3,4]]})")}, {"GET /health", answers(R"({"ok":true})")}});
  const auto opened = EmbedServiceEmbedder::open(patient(), server.client(), {server.options(), "", 0});
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("EMBEDDER_MODEL"), std::string::npos);
}

/// Records the number of texts of each request and rejects batches larger than `most` with 413.
struct Counting {
  std::size_t most = 1'000;
  std::vector<std::size_t> batches = {};
  Mutex mutex = {};

  http::Handler handler(Embedder& embedder) {
    return [this, &embedder](const http::Request& request, const CallContext&) {
      const std::size_t count = parse_json(request.body)->at("inputs").as_array().size();
      MutexLock lock(mutex);
      batches.push_back(count);
      if (count > most) return http::Response::json(413, JsonObject{});
      return embed_with(embedder, request);
    };
  }
};

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(fmt::format("lantern number{}", i));
  return out;
}

TEST(EmbedServiceEmbedder, SendsAHundredTextsAtMostAtOnceAndKeepsTheirOrder) {
  fakes::FakeEmbedder fake;
  Counting counting;
  Service service(counting.handler(fake));
  const auto embedder = service.open();
  const auto texts = numbered(250);
  const auto embeddings = (*embedder)->embed(patient(), views(texts), {});
  ASSERT_TRUE(embeddings.has_value()) << embeddings.error().message;
  EXPECT_EQ(counting.batches, (std::vector<std::size_t>{1, 100, 100, 50}));
  const std::string_view last[] = {texts[249]};
  EXPECT_EQ(embeddings->at(249).windows[0].values, (*embedder)->embed(patient(), last, {})->at(0).windows[0].values);
}

TEST(EmbedServiceEmbedder, LearnsHowManyTextsTheServiceTakes) {
  fakes::FakeEmbedder fake;
  Counting counting{.most = 32};
  Service service(counting.handler(fake));
  const auto embedder = service.open();
  const auto texts = numbered(60);
  ASSERT_TRUE((*embedder)->embed(patient(), views(texts), {}).has_value());
  ASSERT_TRUE((*embedder)->embed(patient(), views(texts), {}).has_value());
  EXPECT_EQ(counting.batches, (std::vector<std::size_t>{1, 60, 30, 30, 30, 30}));
  counting.most = 0;
  EXPECT_EQ((*embedder)->embed(patient(), views(texts), {}).error().code, ErrorCode::kTooLarge);
}

TEST(Rerankers, CohereIsAskedForAllOfABatch) {
  Json seen;
  const auto reranker = make_cohere([&](const http::Request& request, const CallContext& call) {
    seen = parse_json(request.body).value();
    return answer_cohere(request, call);
  });
  const std::string_view passages[] = {"Shipping takes three days.", ""};
  const auto scores = reranker->rerank(patient(), "shipping", passages);
  ASSERT_TRUE(scores.has_value()) << scores.error().message;
  EXPECT_EQ(seen.at("top_n"), 2);
  EXPECT_EQ(seen.at("model"), "m");
  EXPECT_EQ(seen.at("documents").at(1), " ") << "servers refuse empty texts";
  EXPECT_EQ(scores->at(0).raw, scores->at(0).calibrated);
}

TEST(Rerankers, TeisRawScoresAreCalibratedByTheSigmoid) {
  const auto reranker = make_tei(answers(R"([{"index":1,"score":0},{"index":0,"score":-800},{"index":2,"score":2}])"));
  const std::string_view passages[] = {"a", "b", "c"};
  const auto scores = reranker->rerank(patient(), "q", passages);
  ASSERT_TRUE(scores.has_value()) << scores.error().message;
  EXPECT_DOUBLE_EQ(scores->at(1).calibrated, 0.5);
  EXPECT_DOUBLE_EQ(scores->at(0).calibrated, 0);
  EXPECT_NEAR(scores->at(2).calibrated, 0.8808, 1e-4);
  EXPECT_EQ(scores->at(2).raw, 2);
}

TEST(Rerankers, ScoresBeyondOneAreRawOnesAndKeepTheirOrder) {
  const std::string_view passages[] = {"a", "b"};
  const auto cohere = make_cohere(answers(R"({"results":[{"index":0,"relevance_score":7.5},{"index":1,"relevance_score":9}]})"));
  const auto cloudflare = make_cloudflare(answers(R"({"result":{"response":[{"id":0,"score":7.5},{"id":1,"score":9}]}})"));
  for (const auto& reranker : {cohere, cloudflare}) {
    const auto scores = reranker->rerank(patient(), "q", passages);
    ASSERT_TRUE(scores) << scores.error().message;
    EXPECT_EQ(scores->at(1).raw, 9);
    EXPECT_LT(scores->at(0).calibrated, scores->at(1).calibrated);
    EXPECT_LT(scores->at(1).calibrated, 1);
  }
}

TEST(Rerankers, AnswersThatCantBeUsedAreRefused) {
  const std::string_view passages[] = {"a", "b"};
  for (const std::string_view list :
       {"[]", "{}", R"([{"index":0,"S":1}])", R"([{"index":0,"S":1},{"index":0,"S":1}])", R"([{"index":0,"S":1},{"index":2,"S":1}])",
        R"([{"index":0,"S":1},{"index":-1,"S":1}])", R"([{"index":0,"S":1},{"index":1,"S":"x"}])", R"([{"index":0,"S":1},{"index":1}])",
        R"([{"index":0,"S":1},7])"}) {
    const auto body = [&](std::string_view key) {
      std::string out(list);
      for (std::size_t at = 0; (at = out.find("\"S\"", at)) != std::string::npos;) out.replace(at, 3, fmt::format("\"{}\"", key));
      return out;
    };
    EXPECT_EQ(make_tei(answers(body("score")))->rerank(patient(), "q", passages).error().code, ErrorCode::kUnavailable) << list;
    const auto cohere = make_cohere(answers(fmt::format(R"({{"results":{}}})", body("relevance_score"))));
    EXPECT_EQ(cohere->rerank(patient(), "q", passages).error().code, ErrorCode::kUnavailable) << list;
    const auto cloudflare = make_cloudflare(answers(fmt::format(R"({{"result":{{"response":{}}}}})", body("score"))));
    EXPECT_EQ(cloudflare->rerank(patient(), "q", passages).error().code, ErrorCode::kUnavailable) << list;
  }
}

}  // namespace
}  // namespace footnote
