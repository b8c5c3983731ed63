#include "engine/nn/model_files.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/sha256.h"
#include "support/temp_folder.h"

namespace footnote::nn {
namespace {

constexpr std::string_view kConfig = R"({"model_type":"bert","hidden_act":"gelu","hidden_size":64,"intermediate_size":128,
  "num_hidden_layers":1,"num_attention_heads":2,"max_position_embeddings":40,"type_vocab_size":2,"vocab_size":6,"layer_norm_eps":1e-12})";
constexpr std::string_view kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nCat\n";
const std::string kWeights = std::string("\x02\0\0\0\0\0\0\0{}", 10);

class ModelFolder : public ::testing::Test {
 protected:
  ModelFolder() {
    folder_.write("config.json", kConfig);
    folder_.write("vocab.txt", kVocabulary);
    folder_.write("model.safetensors", kWeights);
  }
  Result<ModelFiles> open() const { return ModelFiles::open(folder_.path()); }
  void expect_error(ErrorCode code, std::string_view words) const {
    const auto files = open();
    ASSERT_FALSE(files.has_value());
    EXPECT_EQ(files.error().code, code) << files.error().message;
    EXPECT_NE(files.error().message.find(words), std::string::npos) << files.error().message;
  }

  test::TempFolder folder_;
};

TEST_F(ModelFolder, ReadsSizesAndDefaults) {
  const auto files = open();
  ASSERT_TRUE(files.has_value()) << files.error().message;
  EXPECT_EQ(files->shape.hidden, 64U);
  EXPECT_EQ(files->shape.head_size(), 32U);
  EXPECT_EQ(files->tokens_max, 40U);
  EXPECT_EQ(files->pooling, Pooling::kMean);
  EXPECT_EQ(files->weights_sha256, "");
  EXPECT_EQ(files->tokenizer->tokenize("THE").ids, (std::vector<std::uint32_t>{4}));
}

TEST_F(ModelFolder, OptionalFilesChangeWindowPoolingAndCase) {
  folder_.write("sentence_bert_config.json", R"({"max_seq_length":16,"do_lower_case":false})");
  folder_.write("1_Pooling/config.json", R"({"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false})");
  folder_.write("tokenizer_config.json", R"({"do_lower_case":false,"strip_accents":null})");
  const auto files = open();
  ASSERT_TRUE(files.has_value()) << files.error().message;
  EXPECT_EQ(files->tokens_max, 16U);
  EXPECT_EQ(files->pooling, Pooling::kFirstToken);
  EXPECT_EQ(files->tokenizer->tokenize("Cat").ids, (std::vector<std::uint32_t>{5}));
  folder_.write("sentence_bert_config.json", R"({"max_seq_length":4096})");
  EXPECT_EQ(open()->tokens_max, 40U);
  folder_.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens":true})");
  expect_error(ErrorCode::kUnsupported, "pools");
}

TEST_F(ModelFolder, ATokenizerCanBeThatOfTheModelNextToIt) {
  std::string config(kConfig);
  config.insert(1, R"("tokenizer":{"model":"other"},)");
  folder_.write("own/config.json", config);
  folder_.write("own/model.safetensors", kWeights);
  const auto opened = [&] { return ModelFiles::open(folder_.path() / "own"); };
  ASSERT_FALSE(opened().has_value());
  EXPECT_NE(opened().error().message.find("other"), std::string::npos) << opened().error().message;
  folder_.write("other/vocab.txt", kVocabulary);
  const auto files = opened();
  ASSERT_TRUE(files.has_value()) << files.error().message;
  EXPECT_EQ(files->tokenizer->tokenize("THE").ids, (std::vector<std::uint32_t>{4}));
  EXPECT_FALSE(files->shared_words.has_value());
  config.replace(config.find("other"), 5, "../x");
  folder_.write("own/config.json", config);
  EXPECT_EQ(opened().error().code, ErrorCode::kCorrupted);
}

TEST_F(ModelFolder, AMissingFileNamesTheCommand) {
  for (const std::string name : {"config.json", "vocab.txt", "model.safetensors"}) {
    std::filesystem::rename(folder_.path() / name, folder_.path() / "away");
    expect_error(ErrorCode::kFailedPrecondition, "make setup");
    expect_error(ErrorCode::kFailedPrecondition, name);
    std::filesystem::rename(folder_.path() / "away", folder_.path() / name);
  }
  EXPECT_EQ(ModelFiles::open("/nonexistent").error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(ModelFolder, OtherArchitecturesAreUnsupported) {
  folder_.write("config.json", R"({"model_type":"modernbert"})");
  expect_error(ErrorCode::kUnsupported, "modernbert");
  expect_error(ErrorCode::kUnsupported, "'bert'");
  folder_.write("config.json", R"({"model_type":"bert","hidden_act":"relu"})");
  expect_error(ErrorCode::kUnsupported, "relu");
  folder_.write("config.json", R"({})");
  expect_error(ErrorCode::kUnsupported, "model_type");
  folder_.write("config.json", R"({"model_type":"bert","hidden_size":0})");
  expect_error(ErrorCode::kUnsupported, "vocab_size");
  std::string odd(kConfig);
  odd.replace(odd.find("128"), 3, "130");
  folder_.write("config.json", odd);
  expect_error(ErrorCode::kUnsupported, "130");
  folder_.write("config.json", "{");
  expect_error(ErrorCode::kCorrupted, "make setup");
}

TEST_F(ModelFolder, PromptsAreReadAndPositionsOfXlmRAreShifted) {
  folder_.write("config_sentence_transformers.json", R"({"prompts":{"query":"query: ","document":"passage: "}})");
  const auto files = open();
  ASSERT_TRUE(files.has_value()) << files.error().message;
  EXPECT_EQ(files->query_prefix, "query: ");
  EXPECT_EQ(files->passage_prefix, "passage: ");
  std::string config(kConfig);
  config.replace(config.find("\"bert\""), 6, "\"xlm-roberta\"");
  folder_.write("config.json", config);
  const auto shifted = open();
  ASSERT_TRUE(shifted.has_value()) << shifted.error().message;
  EXPECT_EQ(shifted->shape.position_offset, 2U);
  EXPECT_EQ(shifted->shape.positions, 38U);
  EXPECT_EQ(shifted->shape.positions_total, 40U);
}

TEST_F(ModelFolder, ChecksumsAreChecked) {
  const std::string weights_sum = sha256_hex(kWeights);
  const std::string vocabulary_sum = sha256_hex(kVocabulary);
  folder_.write("checksums.sha256", weights_sum + "  model.safetensors\n" + vocabulary_sum + " *vocab.txt\n");
  const auto files = open();
  ASSERT_TRUE(files.has_value()) << files.error().message;
  EXPECT_EQ(files->weights_sha256, weights_sum);
  EXPECT_TRUE(files->verify_weights().has_value());
  folder_.write("checksums.sha256", vocabulary_sum + "  model.safetensors\n");
  const auto damaged = open();
  ASSERT_TRUE(damaged.has_value()) << "the weights' sum is left to who reads them";
  const auto verified = damaged->verify_weights();
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().code, ErrorCode::kCorrupted);
  EXPECT_NE(verified.error().message.find("model.safetensors"), std::string::npos);
  EXPECT_NE(verified.error().message.find("run `make setup` to fetch it again"), std::string::npos);
  folder_.write("checksums.sha256", weights_sum + "  ./vocab.txt\n");
  expect_error(ErrorCode::kCorrupted, "vocab.txt");
  folder_.write("checksums.sha256", "hello\n");
  expect_error(ErrorCode::kCorrupted, "checksums.sha256");
}

TEST_F(ModelFolder, DamagedFilesAreCorrupted) {
  folder_.write("model.safetensors", "short");
  expect_error(ErrorCode::kCorrupted, "make setup");
  folder_.write("model.safetensors", kWeights);
  folder_.write("vocab.txt", std::string(kVocabulary) + "one\ntoo\nmany\n");
  expect_error(ErrorCode::kCorrupted, "the model has vectors for");
  folder_.write("vocab.txt", "nothing\n");
  expect_error(ErrorCode::kCorrupted, "[UNK]");
}

}  // namespace
}  // namespace footnote::nn
