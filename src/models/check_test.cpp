#include "models/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "engine/nn/packed_file.h"
#include "models/report.h"
#include "models/tiny_model_for_test.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class VerifyModel : public ::testing::Test {
 protected:
  VerifyModel() {
    test::write_tiny_model(folder_, "tiny");
    ModelChecksums sums;
    for (const char* name : {"config.json", "model.safetensors", "vocab.txt"}) {
      sums.emplace(name, sha256_hex(*read_file(model() / name, 1 << 20)));
    }
    folder_.write("tiny/checksums.sha256", render_model_checksums(sums));
  }

  fs::path model() const { return folder_.path() / "tiny"; }
  ModelVerdict verify() {
    const auto verdict = verify_model({}, model(), [this](std::uint64_t bytes) { bytes_read_ += bytes; });
    EXPECT_TRUE(verdict.has_value());
    return verdict.value_or(ModelVerdict{});
  }
  static FileState state_of(const ModelVerdict& verdict, const std::string& name) {
    for (const FileFinding& file : verdict.files) {
      if (file.name == name) return file.state;
    }
    ADD_FAILURE() << name << " is not in the verdict";
    return FileState::kOk;
  }
  void flip_a_bit(const fs::path& path, std::size_t at) const {
    std::string bytes = *read_file(path, 1 << 20);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    folder_.write(path.lexically_relative(folder_.path()).string(), bytes);
  }
  /// A packed file that matches the weights.
  fs::path write_packed() const {
    const nn::Kernels& kernels = *nn::portable_kernels();
    const std::array<std::byte, 64> payload{};
    const auto key = nn::PackedFile::key_of(model() / kWeightsName, kernels, payload.size());
    const fs::path path = nn::PackedFile::path_of(model(), kernels);
    EXPECT_TRUE(nn::PackedFile::write(path, *key, payload).has_value());
    return path;
  }

  test::TempFolder folder_;
  std::uint64_t bytes_read_ = 0;
};

TEST_F(VerifyModel, WhatFitsIsSound) {
  const ModelVerdict verdict = verify();
  EXPECT_TRUE(verdict.sound()) << render_verdicts({verdict}, cli::Paint::kOff);
  EXPECT_TRUE(verdict.has_checksums);
  EXPECT_EQ(verdict.files.size(), 3U);
  EXPECT_EQ(bytes_read_, bytes_to_verify(model()));
  EXPECT_EQ(render_verdicts({verdict}, cli::Paint::kOff), "ok  tiny: 3 files match their checksums\n");
}

TEST_F(VerifyModel, OneBitOfTheWeightsIsEnough) {
  flip_a_bit(model() / kWeightsName, 9);
  const ModelVerdict verdict = verify();
  EXPECT_FALSE(verdict.sound());
  EXPECT_EQ(state_of(verdict, "model.safetensors"), FileState::kDamaged);
  EXPECT_EQ(state_of(verdict, "vocab.txt"), FileState::kOk);
  EXPECT_THAT(render_verdicts({verdict}, cli::Paint::kOff), HasSubstr("model.safetensors damaged"));
  EXPECT_THAT(to_text(verdicts_json({verdict})), HasSubstr(R"("name":"model.safetensors","status":"damaged")"));
}

TEST_F(VerifyModel, MissingAndUnlistedFilesAreNamed) {
  folder_.remove("tiny/vocab.txt");
  folder_.write("tiny/modules.json", "[]");
  const ModelVerdict verdict = verify();
  EXPECT_FALSE(verdict.sound());
  EXPECT_EQ(state_of(verdict, "vocab.txt"), FileState::kMissing);
  EXPECT_EQ(state_of(verdict, "modules.json"), FileState::kUnlisted);
  EXPECT_THAT(render_verdicts({verdict}, cli::Paint::kOff), HasSubstr("not in checksums.sha256: modules.json"));
}

TEST_F(VerifyModel, WithoutAListThereIsNothingToHoldItAgainst) {
  folder_.remove("tiny/checksums.sha256");
  const ModelVerdict verdict = verify();
  EXPECT_TRUE(verdict.sound());
  EXPECT_FALSE(verdict.has_checksums);
  EXPECT_THAT(render_verdicts({verdict}, cli::Paint::kOff), HasSubstr("there is no checksums.sha256"));
  folder_.write("tiny/config.json", R"({"model_type":"modernbert"})");
  EXPECT_FALSE(verify().sound());
}

TEST_F(VerifyModel, AListThatIsNoneOrLeadsOutIsRefused) {
  for (const std::string& line : {std::string("hello"), sha256_hex("x") + "  ../other/config.json", sha256_hex("x") + "  /etc/hostname"}) {
    folder_.write("tiny/checksums.sha256", line + "\n");
    const ModelVerdict verdict = verify();
    EXPECT_FALSE(verdict.sound()) << line;
    EXPECT_EQ(state_of(verdict, "checksums.sha256"), FileState::kUnreadable);
  }
}

TEST_F(VerifyModel, APackedFileFits) {
  const fs::path packed = write_packed();
  const ModelVerdict verdict = verify();
  EXPECT_TRUE(verdict.sound());
  EXPECT_EQ(state_of(verdict, packed.filename().string()), FileState::kOk);
}

TEST_F(VerifyModel, ADamagedPackedFileIsReportedAndRemoved) {
  for (const std::size_t at : {std::size_t{20}, std::size_t{4096 + 5}}) {
    const fs::path packed = write_packed();
    flip_a_bit(packed, at);
    const ModelVerdict verdict = verify();
    EXPECT_FALSE(verdict.sound());
    EXPECT_EQ(state_of(verdict, packed.filename().string()), FileState::kDamaged) << at;
    EXPECT_FALSE(fs::exists(packed));
    EXPECT_TRUE(verify().sound());
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{4096}, std::size_t{4150}}) {
    const fs::path packed = write_packed();
    fs::resize_file(packed, bytes);
    EXPECT_EQ(state_of(verify(), packed.filename().string()), FileState::kDamaged) << bytes;
    EXPECT_FALSE(fs::exists(packed));
  }
}

TEST_F(VerifyModel, APackedFileOfOtherWeightsIsStale) {
  const fs::path packed = write_packed();
  folder_.write("tiny/model.safetensors", test::tensors_file("{} ", ""));
  const ModelVerdict verdict = verify();
  EXPECT_EQ(state_of(verdict, packed.filename().string()), FileState::kStale);
  EXPECT_TRUE(fs::exists(packed));
  folder_.write("tiny/packed-int1x7.bin", "of a later version");
  EXPECT_EQ(state_of(verify(), "packed-int1x7.bin"), FileState::kStale);
}

TEST_F(VerifyModel, StopsWhenTheCallEnds) {
  std::stop_source stop;
  stop.request_stop();
  CallContext call;
  call.stop = stop.get_token();
  EXPECT_EQ(verify_model(call, model(), [](std::uint64_t) {}).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace footnote::models
