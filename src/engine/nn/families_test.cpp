// Encoders of every family at every level, compared with a reference implementation on tiny random models.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/sha256.h"
#include "engine/nn/cross_encoder.h"
#include "engine/nn/encoder.h"
#include "engine/nn/tiny_model_for_test.h"

namespace footnote::nn {
namespace {

using testing::TinyModel;

struct Subject {
  std::string name;
  EncoderOptions options;
};

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) out.push_back({std::string(to_string(level)), {.level = level, .threads = 2}});
  out.push_back({"model of vnni", {.level = {}, .threads = 2, .pooling = {}, .kernels = vnni_model()}});
  out.push_back({"model of amx", {.level = {}, .threads = 2, .pooling = {}, .kernels = amx_model()}});
  return out;
}

/// Random weights quantise worse than trained ones.
double lowest_cosine(const EncoderOptions& options) {
  const Format format = (options.kernels != nullptr ? options.kernels : kernels_of(*options.level))->format;
  return format == Format::kFloat ? 0.999999 : format == Format::kBf16 ? 0.999 : 0.99;
}

double cosine(std::span<const float> a, std::span<const double> b) {
  double dot = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += a[i] * b[i];
    square_a += static_cast<double>(a[i]) * a[i];
    square_b += b[i] * b[i];
  }
  return dot / std::sqrt(square_a * square_b);
}

std::unique_ptr<Encoder> open(const TinyModel& model, const EncoderOptions& options = {}) {
  auto encoder = Encoder::open(model.path(), options);
  EXPECT_TRUE(encoder.has_value()) << (encoder ? "" : encoder.error().message);
  return encoder ? *std::move(encoder) : nullptr;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Families, EveryLevelGivesTheTextbooksNumbers) {
  for (const Family family : {Family::kBert, Family::kXlmRoberta}) {
    const TinyModel model(family);
    for (const Subject& subject : subjects()) {
      const auto encoder = open(model, subject.options);
      ASSERT_NE(encoder, nullptr);
      for (const std::size_t length : {1, 2, 7, 33, 64}) {
        std::vector<std::uint32_t> ids(length);
        for (std::size_t i = 0; i < length; ++i) ids[i] = static_cast<std::uint32_t>(i * 7 % 30);
        const TokenSpan span{ids};
        const auto encoded = encoder->encode({}, {&span, 1}, {.output = Output::kPooledAndTokens});
        ASSERT_TRUE(encoded.has_value());
        EXPECT_GE(cosine((*encoded)[0].token_vectors, model.forward(span)), lowest_cosine(subject.options))
            << to_string(family) << ", " << subject.name << ", " << length << " tokens";
      }
    }
  }
}

TEST(Families, WeightsOfSixteenBitsAreTheSameModel) {
  const std::vector<std::uint32_t> ids{2, 9, 10, 11, 3};
  const TokenSpan span{ids};
  const TinyModel whole(Family::kBert);
  const auto expected = open(whole)->encode({}, {&span, 1})->at(0).vector;
  for (const auto storage : {TinyModel::Storage::kF16, TinyModel::Storage::kBf16}) {
    const TinyModel half(Family::kBert, 0, storage);
    EXPECT_TRUE(same_bytes(open(half)->encode({}, {&span, 1})->at(0).vector, expected));
  }
}

TEST(Families, WeightsInByteRowsAreTheModelThatTheyWereRoundedTo) {
  const std::vector<std::uint32_t> ids{2, 9, 10, 11, 3};
  const TokenSpan span{ids};
  const TinyModel model(Family::kBert, 0, TinyModel::Storage::kByteRows);
  const auto encoder = open(model, {.level = cpu::CpuLevel::kPortable, .threads = 1});
  const auto got = encoder->encode({}, {&span, 1}, {.output = Output::kPooledAndTokens});
  ASSERT_TRUE(got.has_value()) << got.error().message;
  const auto expected = model.forward(span);
  ASSERT_EQ(got->at(0).token_vectors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got->at(0).token_vectors[i], expected[i], 1e-3);
}

TEST(Families, PairsAreScoredByTheHead) {
  for (const Family family : {Family::kBert, Family::kXlmRoberta}) {
    for (const std::size_t labels : {1, 2}) {
      const TinyModel model(family, labels);
      auto opened = CrossEncoder::open(model.path(), {.level = cpu::CpuLevel::kPortable, .threads = 1});
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      CrossEncoder& cross = **opened;
      const std::string longer(400, 'c');
      const std::vector<std::string_view> seconds{"the cat sat on the mat.", "", "dog", longer};
      const auto scores = cross.score({}, "the cat", seconds);
      ASSERT_TRUE(scores.has_value()) << scores.error().message;
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        const PairTokens pair = cross.encoder().tokenizer().frame_pair("the cat", seconds[i], cross.encoder().tokens_max(),
                                                                       Specials::kAsText, PairTruncation::kOnlySecond);
        EXPECT_NEAR((*scores)[i], model.score({pair.ids, pair.types}), 1e-3) << to_string(family) << " " << labels;
      }
    }
  }
  const TinyModel headless(Family::kBert);
  const auto refused = CrossEncoder::open(headless.path(), {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("no classification head"), std::string::npos);
}

class PackedWeights : public ::testing::Test {
 protected:
  std::vector<float> encode() {
    const std::vector<std::uint32_t> ids{2, 9, 10, 3};
    const TokenSpan span{ids};
    const auto encoder = open(model_, {.level = cpu::CpuLevel::kPortable, .threads = 1});
    return encoder->encode({}, {&span, 1})->at(0).vector;
  }
  std::filesystem::path packed() const { return PackedFile::path_of(model_.path(), *portable_kernels()); }
  void flip(const std::filesystem::path& path, std::size_t byte) const {
    std::string bytes = *read_file(path, 1 << 30);
    bytes[byte] = static_cast<char>(bytes[byte] ^ 4);
    ASSERT_TRUE(write_file_atomically(path, bytes).has_value());
  }

  TinyModel model_{Family::kBert};
};

TEST_F(PackedWeights, AreKeptBesideTheModelAndTakenFromThere) {
  const auto first = encode();
  ASSERT_TRUE(std::filesystem::exists(packed()));
  const auto written = std::filesystem::last_write_time(packed());
  EXPECT_TRUE(same_bytes(encode(), first));
  EXPECT_EQ(std::filesystem::last_write_time(packed()), written);
}

TEST_F(PackedWeights, ThatAreDamagedAreMadeAgain) {
  const auto first = encode();
  const std::string good = *read_file(packed(), 1 << 30);
  for (const std::size_t byte : {std::size_t{0}, std::size_t{9}, std::size_t{30}, std::size_t{60}, std::size_t{4096}, good.size() - 1}) {
    flip(packed(), byte);
    EXPECT_TRUE(same_bytes(encode(), first)) << byte;
    EXPECT_EQ(*read_file(packed(), 1 << 30), good) << byte;
  }
  std::filesystem::resize_file(packed(), 5000);
  EXPECT_TRUE(same_bytes(encode(), first));
  std::filesystem::resize_file(packed(), 0);
  EXPECT_TRUE(same_bytes(encode(), first));
}

TEST_F(PackedWeights, DoNotHideWeightsThatChanged) {
  const std::string weights = *read_file(model_.path() / "model.safetensors", 1 << 30);
  model_.folder().write("checksums.sha256", sha256_hex(weights) + "  model.safetensors\n");
  encode();
  flip(model_.path() / "model.safetensors", weights.size() - 100);
  const auto refused = Encoder::open(model_.path(), {.level = cpu::CpuLevel::kPortable, .threads = 1});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupted);
  EXPECT_NE(refused.error().message.find("model.safetensors"), std::string::npos);
}

TEST_F(PackedWeights, NeedNoFolderThatCanBeWritten) {
  std::filesystem::create_directory(packed());  // A folder of that name: nothing can be written there, not even by root.
  EXPECT_FALSE(encode().empty());
}

TEST(Scheduling, UrgentSequencesRunInTheMidstOfOthers) {
  const TinyModel model(Family::kBert);
  for (const std::size_t threads : {1, 2}) {
    const auto encoder = open(model, {.level = {}, .threads = threads});
    ASSERT_NE(encoder, nullptr);
    const std::vector<std::uint32_t> ids(64, 9);
    const std::vector<TokenSpan> many(20000, TokenSpan{ids});
    std::stop_source enough;
    CallContext call;
    call.stop = enough.get_token();
    std::atomic<bool> bulk_done = false;
    std::thread bulk([&] {
      (void)encoder->encode(call, many);
      bulk_done = true;
    });
    // The question overtook whatever is left of the bulk work when its answer arrives.
    const std::vector<std::uint32_t> question{2, 9, 3};
    const TokenSpan span{question};
    int overtaken = 0;
    while (!bulk_done && overtaken < 3) {
      ASSERT_TRUE(encoder->encode({}, {&span, 1}, {.output = Output::kPooled, .urgency = Urgency::kUrgent}).has_value());
      if (!bulk_done) ++overtaken;
    }
    enough.request_stop();
    bulk.join();
    EXPECT_GT(overtaken, 0) << threads << " threads";
  }
}

TEST(Scheduling, ManyCallersOfBothKindsGetTheirOwnVectors) {
  const TinyModel model(Family::kBert);
  const auto encoder = open(model, {.level = {}, .threads = 3});
  ASSERT_NE(encoder, nullptr);
  std::vector<std::vector<std::uint32_t>> ids;
  std::vector<std::vector<float>> expected;
  for (std::uint32_t i = 0; i < 12; ++i) {
    ids.emplace_back(1 + i * 5, 5 + i % 8);
    const TokenSpan span{ids.back()};
    expected.push_back(encoder->encode({}, {&span, 1})->at(0).vector);
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, caller] {
      for (std::size_t round = 0; round < 60; ++round) {
        std::vector<TokenSpan> spans;
        std::vector<std::size_t> which;
        for (std::size_t i = 0; i <= round % 4; ++i) {
          which.push_back((caller * 7 + round * 5 + i * 3) % ids.size());
          spans.push_back({ids[which.back()]});
        }
        const auto urgency = caller % 2 == 0 ? Urgency::kUrgent : Urgency::kBulk;
        const auto encoded = encoder->encode({}, spans, {.output = Output::kPooled, .urgency = urgency});
        for (std::size_t i = 0; i < which.size(); ++i) {
          if (!encoded || !same_bytes((*encoded)[i].vector, expected[which[i]])) ++wrong;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Scheduling, WhatIsCancelledWhileItWaitsIsDropped) {
  const TinyModel model(Family::kBert);
  const auto encoder = open(model, {.level = {}, .threads = 1});
  ASSERT_NE(encoder, nullptr);
  const std::vector<std::uint32_t> ids(64, 9);
  const std::vector<TokenSpan> many(2000, TokenSpan{ids});
  std::atomic<bool> go_on = true;
  std::thread other([&] {
    while (go_on) EXPECT_TRUE(encoder->encode({}, many).has_value());
  });
  std::stop_source stop;
  std::thread cancel([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
  });
  CallContext call;
  call.stop = stop.get_token();
  const std::vector<TokenSpan> more(200000, TokenSpan{ids});
  EXPECT_EQ(encoder->encode(call, more).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(encoder->encode(CallContext::with_timeout(std::chrono::milliseconds(5)), more).error().code, ErrorCode::kDeadlineExceeded);
  go_on = false;
  cancel.join();
  other.join();
}

TEST(StageBoard, ChunksRunOnceAndStagesFollowEachOther) {
  std::vector<std::uint32_t> chunks;
  for (std::uint32_t stage = 0; stage < 200; ++stage) chunks.push_back(1 + stage % 7);
  StageBoard board(chunks);
  std::vector<std::atomic<std::uint32_t>> ran(chunks.size());
  std::atomic<int> early = 0;
  const auto help = [&] {
    while (!board.finished()) {
      const auto chunk = board.take();
      if (!chunk) {
        board.wait();
        continue;
      }
      if (chunk->stage > 0 && ran[chunk->stage - 1] != chunks[chunk->stage - 1]) ++early;
      ++ran[chunk->stage];
      board.done(*chunk);
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 0; i < 4; ++i) helpers.emplace_back(help);
  for (std::thread& helper : helpers) helper.join();
  EXPECT_EQ(early, 0);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) EXPECT_EQ(ran[stage], chunks[stage]);
  EXPECT_FALSE(board.take().has_value());
}

}  // namespace
}  // namespace footnote::nn
