#include "engine/nn/encoder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "engine/nn/fixture_for_test.h"

namespace footnote::nn {
namespace {

using testing::Sample;

std::unique_ptr<Encoder> open_model(EncoderOptions options = {}) {
  auto encoder = Encoder::open(testing::model_path(), options);
  if (!encoder) {
    ADD_FAILURE() << encoder.error().message << "\n(this test needs the embedding model: run `make setup`)";
    return nullptr;
  }
  return *std::move(encoder);
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double dot = 0;
  double square_a = 0;
  double square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    square_a += static_cast<double>(a[i]) * a[i];
    square_b += static_cast<double>(b[i]) * b[i];
  }
  return dot / std::sqrt(square_a * square_b);
}

std::vector<TokenSpan> spans_of(const std::vector<std::vector<std::uint32_t>>& ids) { return {ids.begin(), ids.end()}; }

/// Sequences of many lengths, especially around tile heights and panel widths.
std::vector<std::vector<std::uint32_t>> mixed_sequences() {
  std::mt19937 random(11);
  std::vector<std::vector<std::uint32_t>> out;
  std::vector<std::size_t> lengths{1, 3, 13, 33, 49};
  if (!testing::kSanitized) lengths.insert(lengths.end(), {2, 5, 11, 12, 14, 16, 17, 31, 32, 47, 48, 64, 96, 100, 128, 255, 256});
  for (const std::size_t length : lengths) {
    std::vector<std::uint32_t> ids(length);
    for (std::uint32_t& id : ids) id = random() % 30000;
    out.push_back(std::move(ids));
  }
  return out;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// A level's name as part of a test name: without the hyphen.
std::string identifier(std::string_view name) {
  std::string out(name);
  std::erase(out, '-');
  return out;
}

/// The minimum similarity to the reference for each text, and on average.
struct Fidelity {
  double lowest;
  double mean;
};

Fidelity fidelity_of(cpu::CpuLevel level) {
  switch (level) {
    case cpu::CpuLevel::kPortable:
    case cpu::CpuLevel::kAvx2:
    case cpu::CpuLevel::kAvx512: return {0.999999, 0.999999};
    case cpu::CpuLevel::kAvx2Int8: return {0.994, 0.997};
    case cpu::CpuLevel::kVnni: return {0.998, 0.999};
    case cpu::CpuLevel::kAmx: return {0.9995, 0.9995};
  }
  return {1, 1};
}

class EveryLevel : public ::testing::TestWithParam<cpu::CpuLevel> {};

INSTANTIATE_TEST_SUITE_P(Encoder, EveryLevel, ::testing::ValuesIn(cpu::usable_cpu_levels().begin(), cpu::usable_cpu_levels().end()),
                         [](const auto& test) { return identifier(to_string(test.param)); });

TEST_P(EveryLevel, GivesTheReferenceVectors) {
  const auto encoder = open_model({.level = GetParam(), .threads = 2});
  ASSERT_NE(encoder, nullptr);
  std::vector<std::vector<std::uint32_t>> tokens;
  std::vector<TokenSpan> sequences;
  const std::size_t stride = testing::kSanitized ? 20 : 1;
  for (std::size_t i = 0; i < testing::samples().size(); i += stride) {
    const nn::Tokenizer& tokenizer = encoder->tokenizer();
    const std::size_t room = encoder->tokens_max() - tokenizer.frame_tokens();
    tokens.push_back(tokenizer.frame_ids(tokenizer.tokenize(testing::samples()[i].text, room).ids));
  }
  for (const auto& one : tokens) sequences.push_back({one});
  const auto encoded = encoder->encode({}, sequences);
  ASSERT_TRUE(encoded.has_value()) << encoded.error().message;
  double lowest = 1;
  double sum = 0;
  for (std::size_t i = 0; i < encoded->size(); ++i) {
    const Sample& sample = testing::samples()[i * stride];
    EXPECT_EQ(tokens[i], sample.ids) << sample.text;
    const double similarity = cosine((*encoded)[i].vector, sample.vector);
    EXPECT_GE(similarity, fidelity_of(GetParam()).lowest) << sample.text;
    lowest = std::min(lowest, similarity);
    sum += similarity;
  }
  const double mean = sum / static_cast<double>(encoded->size());
  RecordProperty("cosine", fmt::format("lowest {:.6f}, mean {:.6f}", lowest, mean));
  EXPECT_GE(mean, fidelity_of(GetParam()).mean);
}

/// AMX on machines without it: the emulation uses the same code, memory and layouts.
TEST(Encoder, TheModelOfTilesGivesTheReferenceVectors) {
  const auto encoder = open_model({.level = {}, .threads = 2, .kernels = amx_model()});
  ASSERT_NE(encoder, nullptr);
  for (std::size_t i = 0; i < testing::samples().size(); i += testing::kSanitized ? 100 : 20) {
    const Sample& sample = testing::samples()[i];
    if (sample.ids.size() > 40) continue;
    const TokenSpan span{sample.ids};
    const auto encoded = encoder->encode({}, {&span, 1});
    ASSERT_TRUE(encoded.has_value());
    EXPECT_GE(cosine((*encoded)[0].vector, sample.vector), 0.9995) << sample.text;
  }
}

TEST_P(EveryLevel, BytesDependOnTheTokensAlone) {
  const auto one_thread = open_model({.level = GetParam(), .threads = 1});
  const auto three_threads = open_model({.level = GetParam(), .threads = 3});
  ASSERT_NE(one_thread, nullptr);
  ASSERT_NE(three_threads, nullptr);
  auto ids = mixed_sequences();
  std::vector<Pooled> alone;
  for (const auto& sequence : ids) {
    const TokenSpan span{sequence};
    alone.push_back((*one_thread->encode({}, {&span, 1}, {.output = Output::kPooledAndTokens}))[0]);
    const auto shared = three_threads->encode({}, {&span, 1}, {.output = Output::kPooledAndTokens});
    ASSERT_TRUE(shared.has_value());
    EXPECT_TRUE(same_bytes((*shared)[0].token_vectors, alone.back().token_vectors)) << "length " << sequence.size();
  }
  std::vector<std::size_t> order(ids.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(3);
  for (int round = 0; round < (testing::kSanitized ? 1 : 3); ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<TokenSpan> shuffled;
    for (const std::size_t i : order) shuffled.push_back({ids[i]});
    for (Encoder* encoder : {one_thread.get(), three_threads.get()}) {
      const auto together = encoder->encode({}, shuffled, {.output = Output::kPooledAndTokens});
      ASSERT_TRUE(together.has_value());
      for (std::size_t i = 0; i < order.size(); ++i) {
        EXPECT_TRUE(same_bytes((*together)[i].vector, alone[order[i]].vector)) << "length " << ids[order[i]].size();
        EXPECT_TRUE(same_bytes((*together)[i].token_vectors, alone[order[i]].token_vectors));
      }
    }
  }
}

TEST(Encoder, TellsWhatItOpened) {
  const auto encoder = open_model();
  ASSERT_NE(encoder, nullptr);
  EXPECT_EQ(encoder->hidden(), 384U);
  EXPECT_EQ(encoder->tokens_max(), 256U);
  EXPECT_EQ(encoder->positions_max(), 512U);
  EXPECT_EQ(encoder->level(), cpu::best_cpu_level());
}

TEST(Encoder, ReturnsTokenVectorsWhenAsked) {
  const auto encoder = open_model({.level = {}, .threads = 1});
  ASSERT_NE(encoder, nullptr);
  const std::vector<std::vector<std::uint32_t>> ids{{101, 7592, 102}, {101, 102}};
  const auto encoded = encoder->encode({}, spans_of(ids), {.output = Output::kPooledAndTokens});
  ASSERT_TRUE(encoded.has_value());
  EXPECT_EQ((*encoded)[0].token_vectors.size(), 3 * 384U);
  EXPECT_EQ((*encoded)[1].token_vectors.size(), 2 * 384U);
  EXPECT_TRUE((*encoder->encode({}, spans_of(ids)))[0].token_vectors.empty());
  EXPECT_TRUE(encoder->encode({}, {})->empty());
}

TEST(Encoder, VectorTimesLengthIsTheMeanOfTheTokens) {
  const auto encoder = open_model({.level = {}, .threads = 1});
  ASSERT_NE(encoder, nullptr);
  const std::vector<std::vector<std::uint32_t>> ids{{101, 7592, 102}};
  const Pooled pooled = encoder->encode({}, spans_of(ids), {.output = Output::kPooledAndTokens})->at(0);
  for (std::size_t k = 0; k < 384; ++k) {
    const float mean = (pooled.token_vectors[k] + pooled.token_vectors[384 + k] + pooled.token_vectors[768 + k]) / 3;
    EXPECT_NEAR(pooled.vector[k] * pooled.length, mean, 1e-5);
  }
}

TEST(Encoder, TokenTypesCount) {
  const auto encoder = open_model({.level = {}, .threads = 1});
  ASSERT_NE(encoder, nullptr);
  const std::vector<std::uint32_t> ids{101, 7592, 102};
  const std::vector<std::uint8_t> zeros{0, 0, 0};
  const std::vector<std::uint8_t> ones{0, 1, 1};
  const std::vector<TokenSpan> sequences{{ids}, {ids, zeros}, {ids, ones}};
  const auto encoded = encoder->encode({}, sequences);
  EXPECT_TRUE(same_bytes((*encoded)[0].vector, (*encoded)[1].vector));
  EXPECT_FALSE(same_bytes((*encoded)[0].vector, (*encoded)[2].vector));
}

TEST(Encoder, RefusesWhatTheModelCannotTake) {
  const auto encoder = open_model({.level = {}, .threads = 1});
  ASSERT_NE(encoder, nullptr);
  const auto code_of = [&](std::vector<std::uint32_t> ids, std::vector<std::uint8_t> types) {
    const TokenSpan span{ids, types};
    return encoder->encode({}, {&span, 1}).error().code;
  };
  EXPECT_EQ(code_of({}, {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({30522}, {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({1, 2}, {0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({1, 2}, {0, 2}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(std::vector<std::uint32_t>(513, 5), {}), ErrorCode::kInvalidArgument);
  if (testing::kSanitized) return;
  const std::vector<std::uint32_t> longest(512, 5);
  const TokenSpan span{longest};
  EXPECT_TRUE(encoder->encode({}, {&span, 1}).has_value());
}

TEST(Encoder, StopsBetweenBatchesWhenTheCallEnds) {
  const auto encoder = open_model({.level = {}, .threads = 1});
  ASSERT_NE(encoder, nullptr);
  const std::vector<std::uint32_t> ids(testing::kSanitized ? 16 : 256, 2000);
  const std::vector<TokenSpan> many(400, TokenSpan{ids});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(encoder->encode({.deadline = std::chrono::steady_clock::time_point::max(), .stop = stop.get_token()}, many).error().code,
            ErrorCode::kCancelled);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(encoder->encode(CallContext::with_timeout(std::chrono::milliseconds(50)), many).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Encoder, ManyThreadsMayCall) {
  const auto encoder = open_model({.level = {}, .threads = 2});
  ASSERT_NE(encoder, nullptr);
  const std::vector<std::vector<std::uint32_t>> ids{{101, 7592, 2088, 102}};
  const auto expected = (*encoder->encode({}, spans_of(ids)))[0].vector;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const auto encoded = encoder->encode({}, spans_of(ids));
        if (!encoded || !same_bytes((*encoded)[0].vector, expected)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Encoder, NamesTheCommandWhenTheModelIsMissing) {
  const auto encoder = Encoder::open("/nonexistent/model", {});
  ASSERT_FALSE(encoder.has_value());
  EXPECT_EQ(encoder.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(encoder.error().message.find("make setup"), std::string::npos);
  EXPECT_EQ(Encoder::open("/nonexistent/model", {.level = {}, .threads = 100000}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace footnote::nn
