#include "app/compose_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(ConfiguredReranker, NoneUnlessOneIsNamed) {
  Metrics metrics;
  EXPECT_EQ(open_reranker(with({}), metrics)->port, nullptr);
  for (const char* provider : {"cohere", "tei"}) {
    EXPECT_EQ(open_reranker(with({{Setting::kRerankerProvider, provider}}), metrics).error().field, "reranker.url");
    const auto opened =
        open_reranker(with({{Setting::kRerankerProvider, provider}, {Setting::kRerankerUrl, "http://127.0.0.1:9"}}), metrics);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_NE(opened->port, nullptr);
  }
}

TEST(ConfiguredReranker, ALocalOneNeedsTheFolderOfACrossEncoder) {
  Metrics metrics;
  const auto unnamed = open_reranker(with({{Setting::kRerankerProvider, "local"}}), metrics);
  ASSERT_FALSE(unnamed.has_value());
  EXPECT_EQ(unnamed.error().field, "reranker.model");
  const auto missing = open_reranker(with({{Setting::kRerankerProvider, "local"}, {Setting::kRerankerModel, "nowhere"}}), metrics);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(missing.error().message, HasSubstr("footnote models add"));
}

TEST(ConfiguredModels, SayWhetherTheyAreElsewhere) {
  EXPECT_FALSE(embeds_elsewhere(with({})));
  EXPECT_TRUE(embeds_elsewhere(with({{Setting::kEmbedderProvider, "openai"}})));
  EXPECT_FALSE(reranks_elsewhere(with({})));
  EXPECT_FALSE(reranks_elsewhere(with({{Setting::kRerankerProvider, "local"}})));
  EXPECT_TRUE(reranks_elsewhere(with({{Setting::kRerankerProvider, "tei"}})));
}

}  // namespace
}  // namespace footnote::app
