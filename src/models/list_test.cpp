#include "models/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/folder.h"
#include "models/report.h"
#include "models/tiny_model_for_test.h"

namespace footnote::models {
namespace {

using test::models_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModelNames, APublisherMayPrecede) {
  EXPECT_EQ(model_folder_name("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"), "paraphrase-multilingual-MiniLM-L12-v2");
  EXPECT_EQ(model_folder_name("tiny"), "tiny");
  EXPECT_EQ(model_folder_name("tiny/"), "");
}

TEST(ModelNames, AreThoseOfPlainFolders) {
  for (const std::string name : {"tiny", "bge-small-en-v1.5", "modèle"}) EXPECT_TRUE(is_model_name(name)) << name;
  EXPECT_TRUE(is_model_name(std::string(kModelNameBytesMax, 'x')));
  EXPECT_FALSE(is_model_name(std::string(kModelNameBytesMax + 1, 'x')));
  for (const std::string name : {"", ".", "..", ".hidden", "a/b", "a\nb", "a\x7f"}) EXPECT_FALSE(is_model_name(name)) << name;
}

TEST(FindModel, TheMessageNamesTheCommandThatBringsIt) {
  const test::TempFolder folder;
  const auto standard = find_model_folder(models_at(folder.path()));
  ASSERT_FALSE(standard.has_value());
  EXPECT_EQ(standard.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(standard.error().message, HasSubstr("`make setup`"));
  EXPECT_THAT(standard.error().message, HasSubstr(folder.path().string()));
  const auto other = find_model_folder(models_at(folder.path(), {{Setting::kModelsName, "publisher/other"}}));
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("the model other was not found"));
  EXPECT_THAT(other.error().message, HasSubstr("`footnote models add FOLDER`"));
  EXPECT_THAT(other.error().message, HasSubstr("FOOTNOTE_MODELS"));
  const auto nameless = find_model_folder(models_at(folder.path(), {{Setting::kModelsName, "publisher/"}}));
  EXPECT_EQ(nameless.error().field, "models.name");
  EXPECT_EQ(find_model_folder(models_at(folder.path(), {{Setting::kRerankerModel, "x/.."}}), Setting::kRerankerModel).error().field,
            "reranker.model");
}

TEST(FindModel, ByThePartAfterThePublisher) {
  const test::TempFolder folder;
  test::write_tiny_model(folder, "tiny");
  EXPECT_EQ(find_model_folder(models_at(folder.path(), {{Setting::kModelsName, "somebody/tiny"}})), folder.path() / "tiny");
}

TEST(ModelAdvice, SetupIsForTheDefaultModelAlone) {
  const Error error{ErrorCode::kCorrupted, "x is damaged; run `make setup` to fetch it again", {}};
  EXPECT_EQ(advise(error, "all-MiniLM-L6-v2").message, error.message);
  EXPECT_EQ(advise(error, "other").message, "x is damaged; run `footnote models add FOLDER --replace` to add it again");
  EXPECT_EQ(advise({ErrorCode::kUnsupported, "no", {}}, "other").message, "no");
  EXPECT_EQ(without_advice(error.message), "x is damaged");
}

TEST(ListModels, ByNameWithKindUseAndReason) {
  const test::TempFolder folder;
  test::write_tiny_model(folder, "tiny");
  test::write_tiny_cross_encoder(folder, "judge");
  folder.write("broken/config.json", R"({"model_type":"modernbert"})");
  folder.write(".adding-x/config.json", "{}");
  folder.write("readme.txt", "not a folder");
  const auto models = list_models(models_at(
      folder.path(), {{Setting::kModelsName, "p/tiny"}, {Setting::kRerankerProvider, "local"}, {Setting::kRerankerModel, "p/judge"}}));
  ASSERT_EQ(models.size(), 3U);
  EXPECT_EQ(models[0].name, "broken");
  EXPECT_FALSE(models[0].files.has_value());
  EXPECT_THAT(models[0].reason, HasSubstr("modernbert"));
  EXPECT_EQ(kind_of(*models[1].files), ModelKind::kCrossEncoder);
  EXPECT_TRUE(models[1].reranks);
  EXPECT_FALSE(models[1].embeds);
  EXPECT_EQ(kind_of(*models[2].files), ModelKind::kEmbedder);
  EXPECT_TRUE(models[2].embeds);
  EXPECT_GT(models[2].bytes, test::kTinyConfig.size());

  const std::string text = render_models(models);
  EXPECT_THAT(text, HasSubstr("tiny    embedder         bert           64       1      40  mean"));
  EXPECT_THAT(text, HasSubstr("broken: the model's architecture is 'modernbert'"));
  const std::string json = to_text(models_json(models));
  EXPECT_THAT(json, HasSubstr(R"("kind":"cross-encoder")"));
  EXPECT_THAT(json, HasSubstr(R"("window_tokens":40)"));
}

TEST(ListModels, OtherServersUseNone) {
  const test::TempFolder folder;
  test::write_tiny_model(folder, "tiny");
  const auto models = list_models(models_at(folder.path(), {{Setting::kModelsName, "tiny"},
                                                            {Setting::kEmbedderProvider, "openai"},
                                                            {Setting::kRerankerProvider, "cohere"},
                                                            {Setting::kRerankerModel, "tiny"}}));
  ASSERT_EQ(models.size(), 1U);
  EXPECT_FALSE(models[0].embeds);
  EXPECT_FALSE(models[0].reranks);
}

TEST(ListModels, NothingWhereThereIsNoFolder) {
  EXPECT_TRUE(list_models(models_at("/nonexistent/models")).empty());
  EXPECT_EQ(render_models({}), "");
}

TEST(DescribeModel, TellsEverything) {
  const test::TempFolder folder;
  test::write_tiny_model(folder, "tiny");
  folder.write("tiny/packed-int8x32.bin", "12345");
  folder.write("tiny/config_sentence_transformers.json", R"({"prompts":{"query":"query: "}})");
  const ModelEntry model = describe_model(models_at(folder.path()), folder.path() / "tiny");
  ASSERT_EQ(model.packed.size(), 1U);
  EXPECT_EQ(model.packed[0].bytes, 5U);
  const std::string text = render_model(model);
  for (const char* words : {"wordpiece, 6 tokens", "\"query: \"", "packed-int8x32.bin (5 B)", "checksums       none", "40 tokens"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
  EXPECT_THAT(to_text(model_json(model)), HasSubstr(R"("packed":[{"name":"packed-int8x32.bin","bytes":5}])"));
}

}  // namespace
}  // namespace footnote::models
