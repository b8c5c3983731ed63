#include "app/compose_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/nn/fixture_for_test.h"
#include "models/folder.h"
#include "support/temp_folder.h"

namespace footnote::app {
namespace {

using ::testing::HasSubstr;

Settings with(std::vector<std::pair<Setting, std::string>> values) {
  auto settings = Settings::load({.working_folder = "/nowhere",
                                  .environment = [](std::string_view) { return std::optional<std::string>(); },
                                  .flags = std::move(values)});
  EXPECT_TRUE(settings.has_value());
  return *std::move(settings);
}

Error embedder_error(std::vector<std::pair<Setting, std::string>> values) {
  Metrics metrics;
  const auto opened = open_embedder(CallContext::with_timeout(std::chrono::seconds{20}), with(std::move(values)), metrics);
  EXPECT_FALSE(opened.has_value());
  return opened ? Error{} : opened.error();
}

TEST(ConfiguredEmbedder, WhatItsProviderNeedsIsNamed) {
  const Error no_url = embedder_error({{Setting::kEmbedderProvider, "openai"}});
  EXPECT_EQ(no_url.field, "embedder.url");
  EXPECT_THAT(no_url.message, HasSubstr("EMBEDDER_URL"));
  EXPECT_EQ(embedder_error({{Setting::kEmbedderProvider, "openai"}, {Setting::kEmbedderUrl, "http://127.0.0.1:9/v1"}}).field,
            "embedder.model");
  EXPECT_EQ(embedder_error({{Setting::kEmbedderProvider, "embed-service"}}).field, "embedder.url");
  const Error bad_url = embedder_error({{Setting::kEmbedderProvider, "embed-service"}, {Setting::kEmbedderUrl, "embedder:8082"}});
  EXPECT_EQ(bad_url.field, "embedder.url");
}

TEST(ConfiguredReranker, AServerNeedsItsAddress) {
  Metrics metrics;
  for (const char* provider : {"cohere", "tei"}) {
    EXPECT_EQ(open_reranker(with({{Setting::kRerankerProvider, provider}}), metrics).error().field, "reranker.url");
    const auto opened =
        open_reranker(with({{Setting::kRerankerProvider, provider}, {Setting::kRerankerUrl, "http://127.0.0.1:9"}}), metrics);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_NE(opened->provided.port, nullptr);
    EXPECT_EQ(opened->for_ranking(), opened->provided.port.get());
  }
}

TEST(ConfiguredReranker, CloudflareNeedsItsAccountAlone) {
  Metrics metrics;
  EXPECT_EQ(open_reranker(with({{Setting::kRerankerProvider, "cloudflare"}}), metrics).error().field, "reranker.account");
  const auto opened = open_reranker(with({{Setting::kRerankerProvider, "cloudflare"}, {Setting::kRerankerAccount, "0123"}}), metrics);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_NE(opened->provided.port, nullptr);
}

TEST(ConfiguredReranker, TheJudgeUnlessAnotherIsNamed) {
  Metrics metrics;
  const std::string models = nn::testing::model_path().parent_path().string();
  const auto judge = open_reranker(with({{Setting::kModelsPath, models}}), metrics);
  ASSERT_TRUE(judge.has_value()) << judge.error().message;
  ASSERT_NE(judge->provided.port, nullptr);
  EXPECT_NE(judge->for_ranking(), judge->provided.port.get());
  const std::string_view passages[] = {"New parents take 16 weeks off."};
  EXPECT_TRUE(judge->for_ranking()->rerank({}, "How many weeks off do new parents take?", passages)->at(0).answer.has_value());
  EXPECT_EQ(open_reranker(with({{Setting::kRerankerProvider, "none"}}), metrics)->for_ranking(), nullptr);
}

TEST(ConfiguredReranker, WithoutTheJudgeThereIsNoneUnlessItWasAskedFor) {
  Metrics metrics;
  const test::TempFolder empty;
  const std::string models = empty.path().string();
  const auto none = open_reranker(with({{Setting::kModelsPath, models}}), metrics);
  ASSERT_TRUE(none.has_value()) << none.error().message;
  EXPECT_EQ(none->for_ranking(), nullptr);
  EXPECT_FALSE(open_reranker(with({{Setting::kModelsPath, models}, {Setting::kRerankerProvider, "local"}}), metrics).has_value());
}

TEST(ConfiguredReranker, ALocalOneNeedsItsFolder) {
  Metrics metrics;
  const auto missing = open_reranker(with({{Setting::kRerankerProvider, "local"}, {Setting::kRerankerModel, "nowhere"}}), metrics);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(missing.error().message, HasSubstr("footnote models add"));
}

TEST(ConfiguredModels, SayWhetherTheyAreElsewhere) {
  EXPECT_FALSE(models::embeds_elsewhere(with({})));
  EXPECT_TRUE(models::embeds_elsewhere(with({{Setting::kEmbedderProvider, "openai"}})));
  EXPECT_FALSE(models::reranks_elsewhere(with({})));
  EXPECT_FALSE(models::reranks_elsewhere(with({{Setting::kRerankerProvider, "local"}})));
  EXPECT_TRUE(models::reranks_elsewhere(with({{Setting::kRerankerProvider, "tei"}})));
}

}  // namespace
}  // namespace footnote::app
