#include "models/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "models/tiny_model_for_test.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AddModel : public ::testing::Test {
 protected:
  AddModel() { test::write_tiny_model(folder_, "given/tiny"); }

  Result<AddedModel> add(const AddOptions& options = {}, const CallContext& call = {}) const {
    return add_model(call, test::models_at(place()), folder_.path() / "given" / "tiny", options, [](std::uint64_t, std::uint64_t) {});
  }
  Error refused(const AddOptions& options = {}) const {
    const auto added = add(options);
    EXPECT_FALSE(added.has_value());
    return added ? Error{} : added.error();
  }
  fs::path place() const { return folder_.path() / "models"; }
  std::string read(const std::string& name) const { return read_file(place() / name, 1 << 20).value_or("<not there>"); }
  /// The names in a folder, including hidden ones.
  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) names.push_back(entry.path().lexically_relative(folder).string());
    std::ranges::sort(names);
    return names;
  }

  test::TempFolder folder_;
};

TEST_F(AddModel, CopiesWhatIsOfUseAndNothingElse) {
  folder_.write("given/tiny/1_Pooling/config.json", R"({"pooling_mode_cls_token":true})");
  folder_.write("given/tiny/pytorch_model.bin", "not of use");
  folder_.write("given/tiny/README.md", "not of use");
  folder_.write("given/tiny/packed-int8x32.bin", "of another machine");
  const auto added = add();
  ASSERT_TRUE(added.has_value()) << added.error().message;
  EXPECT_FALSE(added->replaced);
  EXPECT_EQ(added->model.name, "tiny");
  EXPECT_TRUE(added->model.has_checksums);
  EXPECT_EQ(added->model.files->pooling, nn::Pooling::kFirstToken);
  EXPECT_THAT(names_in(place()), ElementsAre("tiny", "tiny/1_Pooling", "tiny/1_Pooling/config.json", "tiny/checksums.sha256",
                                             "tiny/config.json", "tiny/model.safetensors", "tiny/vocab.txt"));
  EXPECT_EQ(read("tiny/config.json"), test::kTinyConfig);
  EXPECT_THAT(read("tiny/checksums.sha256"), HasSubstr(sha256_hex(test::kTinyConfig) + "  config.json\n"));
  EXPECT_EQ(*read_model_checksums(place() / "tiny"), added->sums);
}

TEST_F(AddModel, UnderAnotherName) {
  ASSERT_TRUE(add({.name = "mine"}).has_value());
  EXPECT_TRUE(fs::exists(place() / "mine" / "config.json"));
  for (const char* name : {"a/b", "..", ".mine"}) EXPECT_EQ(refused({.name = name}).code, ErrorCode::kInvalidArgument) << name;
}

TEST_F(AddModel, AnExistingOneIsReplacedOnlyWhenAskedTo) {
  ASSERT_TRUE(add().has_value());
  folder_.write("given/tiny/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nDog\n");
  folder_.write("models/tiny/old.txt", "gone with the old one");
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::kAlreadyExists);
  EXPECT_THAT(error.message, HasSubstr("--replace"));
  EXPECT_THAT(read("tiny/vocab.txt"), HasSubstr("Cat"));
  const auto replaced = add({.name = {}, .if_present = IfPresent::kReplace});
  ASSERT_TRUE(replaced.has_value()) << replaced.error().message;
  EXPECT_TRUE(replaced->replaced);
  EXPECT_THAT(read("tiny/vocab.txt"), HasSubstr("Dog"));
  EXPECT_THAT(names_in(place()),
              ElementsAre("tiny", "tiny/checksums.sha256", "tiny/config.json", "tiny/model.safetensors", "tiny/vocab.txt"));
}

TEST_F(AddModel, WhatCantBeRunLeavesNothingBehind) {
  folder_.write("given/tiny/config.json", R"({"model_type":"modernbert"})");
  const Error other = refused();
  EXPECT_EQ(other.code, ErrorCode::kUnsupported);
  EXPECT_THAT(other.message, HasSubstr("modernbert"));
  EXPECT_THAT(names_in(place()), IsEmpty());
  folder_.write("given/tiny/config.json", test::kTinyConfig);
  folder_.write("given/tiny/model.safetensors", "version https://git-lfs.github.com/spec/v1");
  const Error pointer = refused();
  EXPECT_EQ(pointer.code, ErrorCode::kCorrupted);
  EXPECT_EQ(pointer.message.find("make setup"), std::string::npos) << pointer.message;
  EXPECT_THAT(names_in(place()), IsEmpty());
}

TEST_F(AddModel, ModulesThatAreNotRunAreRefused) {
  folder_.write("given/tiny/modules.json",
                R"([{"type":"sentence_transformers.models.Transformer"},{"type":"sentence_transformers.models.Pooling"},
    {"type":"sentence_transformers.models.Normalize"}])");
  EXPECT_TRUE(add({.name = "plain"}).has_value());
  folder_.write("given/tiny/modules.json", R"([{"type":"sentence_transformers.models.Dense"}])");
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("Dense"));
}

TEST_F(AddModel, NamesTheFileThatIsMissing) {
  for (const std::string name : {"config.json", "model.safetensors", "vocab.txt"}) {
    fs::rename(folder_.path() / "given/tiny" / name, folder_.path() / "away");
    const Error error = refused();
    EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
    EXPECT_THAT(error.message, HasSubstr(name));
    fs::rename(folder_.path() / "away", folder_.path() / "given/tiny" / name);
  }
  folder_.remove("given/tiny");
  EXPECT_EQ(refused().code, ErrorCode::kInvalidArgument);
}

TEST_F(AddModel, LinksMayNotLeadOut) {
  folder_.write("secret.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n");
  folder_.remove("given/tiny/vocab.txt");
  fs::create_symlink("../../secret.txt", folder_.path() / "given/tiny/vocab.txt");
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("leads out of the folder"));
  folder_.remove("given/tiny/vocab.txt");
  folder_.write("given/tiny/words", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n");
  fs::create_symlink("words", folder_.path() / "given/tiny/vocab.txt");
  ASSERT_TRUE(add().has_value());
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(place() / "tiny/vocab.txt")));
}

TEST_F(AddModel, ItsOwnSumsMustFit) {
  folder_.write("given/tiny/checksums.sha256", sha256_hex("other") + "  model.safetensors\n" + sha256_hex("x") + "  README.md\n");
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::kCorrupted);
  EXPECT_THAT(error.message, HasSubstr("model.safetensors"));
  EXPECT_THAT(names_in(place()), IsEmpty());
}

TEST_F(AddModel, TooLargeAFileIsRefused) {
  fs::resize_file(folder_.path() / "given/tiny/vocab.txt", kModelFileBytesMax + 1);
  EXPECT_EQ(refused().code, ErrorCode::kTooLarge);
}

TEST_F(AddModel, StopsWhenTheCallEnds) {
  std::stop_source stop;
  stop.request_stop();
  CallContext call;
  call.stop = stop.get_token();
  const auto added = add({}, call);
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, ErrorCode::kCancelled);
  EXPECT_THAT(names_in(place()), IsEmpty());
}

TEST_F(AddModel, FromWhereItWouldGoThereIsNothingToCopy) {
  ASSERT_TRUE(add().has_value());
  const auto again = add_model({}, test::models_at(place()), place() / "tiny", {.name = {}, .if_present = IfPresent::kReplace},
                               [](std::uint64_t, std::uint64_t) {});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(fs::exists(place() / "tiny" / "config.json"));
}

}  // namespace
}  // namespace footnote::models
