#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/late/late_score.h"
#include "engine/late/model_fit.h"
#include "engine/late/sign_coder.h"

namespace footnote::late {
namespace {

std::vector<float> random_numbers(std::mt19937& random, std::size_t count, float shift = 0) {
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& value : out) value = normal(random) + shift;
  return out;
}

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t count) {
  std::vector<std::byte> out(count);
  for (std::byte& value : out) value = static_cast<std::byte>(random());
  return out;
}

LateModel simple_model(std::size_t hidden) {
  LateModel model;
  model.centre.assign(hidden, 0.5F);
  model.frequent = {7, 9};
  return model;
}

TEST(LateKernel, AllLevelsAgreeToTheLastBit) {
  std::mt19937 random(1);
  for (const std::size_t dimension : {8U, 64U, 136U, 192U, 384U, 1024U, 4096U}) {
    for (const std::size_t count : {1U, 7U, 15U, 16U, 17U, 31U, 32U, 33U, 65U, 200U}) {
      for (const std::size_t tokens :
           {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}, std::size_t{5}, std::size_t{17}, kQuestionTokensMax}) {
        std::vector<std::uint8_t> tables(tokens * table_count(dimension) * kTableEntries);
        for (auto& entry : tables) entry = static_cast<std::uint8_t>(random() % 64);
        // The largest possible sums.
        for (std::size_t i = 0; i < tables.size(); ++i) {
          const std::size_t table = i / kTableEntries % table_count(dimension);
          if (count == 33) tables[i] = table % kTablesTogether == 0 ? 63 : 64;
          if (table >= dimension / kTableBits) tables[i] = 0;
        }
        const auto signs = random_bytes(random, count * dimension / 8);
        std::vector<std::uint16_t> expected(tokens);
        late_kernel(cpu::CpuLevel::kPortable)(tables.data(), tokens, dimension, signs.data(), count, expected.data());
        for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
          std::vector<std::uint16_t> found(tokens);
          late_kernel(level)(tables.data(), tokens, dimension, signs.data(), count, found.data());
          EXPECT_EQ(found, expected) << cpu::to_string(level) << ' ' << dimension << ' ' << count << ' ' << tokens;
        }
      }
    }
  }
}

TEST(LateQuestion, NoSumRunsOver) {
  // Sixteen equal values fill four tables completely; in a token of one sign every set bit counts.
  for (const std::size_t dimension : {16U, 384U, 4096U}) {
    for (const float value : {1.0F, -1.0F, 1e-30F, 1e-44F, 0.0F}) {
      const std::vector<float> question(dimension, value);
      const std::vector<std::byte> ones(dimension / 8, std::byte{0xFF}), none(dimension / 8, std::byte{0});
      const double most = value * std::sqrt(static_cast<double>(dimension));
      for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
        const LateQuestion compare(question, dimension, level);
        EXPECT_NEAR(compare.score(ones), most, std::abs(most) * 0.02 + 1e-40) << cpu::to_string(level) << ' ' << dimension;
        EXPECT_NEAR(compare.score(none), -most, std::abs(most) * 0.02 + 1e-40) << cpu::to_string(level) << ' ' << dimension;
      }
    }
  }
}

TEST(LateQuestion, IsTheMeanOfTheBestProducts) {
  std::mt19937 random(2);
  constexpr std::size_t kDimension = 64;
  for (const std::size_t tokens : {1U, 15U, 16U, 17U, 40U}) {
    std::vector<float> question = random_numbers(random, tokens * kDimension);
    for (std::size_t t = 0; t < tokens; ++t) {
      double square = 0;
      for (std::size_t i = 0; i < kDimension; ++i) square += std::pow(question[t * kDimension + i], 2);
      for (std::size_t i = 0; i < kDimension; ++i) question[t * kDimension + i] /= static_cast<float>(std::sqrt(square));
    }
    const auto signs = random_bytes(random, 21 * kDimension / 8);
    double expected = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      double best = -1e9;
      for (std::size_t p = 0; p < 21; ++p) {
        double product = 0;
        for (std::size_t i = 0; i < kDimension; ++i) {
          const bool set = static_cast<unsigned>(signs[p * 8 + i / 8]) >> (i % 8) & 1;
          product += question[t * kDimension + i] * (set ? 1 : -1);
        }
        best = std::max(best, product / std::sqrt(static_cast<double>(kDimension)));
      }
      expected += best / static_cast<double>(tokens);
    }
    EXPECT_NEAR(LateQuestion(question, kDimension).score(signs), expected, 0.01) << tokens;
  }
}

TEST(LateQuestion, TokensPastTheLimitAreLeftOut) {
  std::mt19937 random(3);
  auto question = random_numbers(random, (kQuestionTokensMax + 1) * 16);
  const auto signs = random_bytes(random, 20);
  const double with = LateQuestion(question, 16).score(signs);
  question.resize(kQuestionTokensMax * 16);
  EXPECT_EQ(with, LateQuestion(question, 16).score(signs));
  EXPECT_EQ(LateQuestion(question, 16).score({}), 0) << "a passage without tokens";
}

TEST(SignCoder, WritesTheSidesOfTheCentreAndDropsFrequentPieces) {
  const SignCoder coder(simple_model(8), {.signs = Signs::kFull, .drop_frequent = true});
  const std::vector<float> tokens = {1, 0, 1, 0, 0, 0, 0, 0.5F,  //
                                     1, 1, 1, 1, 1, 1, 1, 1,     //
                                     0, 0, 0, 0, 0, 0, 0, 0};
  std::vector<std::byte> out;
  coder.append_passage(tokens, std::vector<std::uint32_t>{7, 9, 3}, out);
  EXPECT_EQ(out, (std::vector<std::byte>{std::byte{0b10000101}, std::byte{0}})) << "the first stays, the second is frequent";
  const SignCoder all(simple_model(8), {.signs = Signs::kFull, .drop_frequent = false});
  EXPECT_NE(all.form(), coder.form());
  out.clear();
  all.append_passage(tokens, std::vector<std::uint32_t>{7, 9, 3}, out);
  EXPECT_EQ(out.size(), 3U);
}

TEST(SignCoder, APassageFindsItselfBest) {
  std::mt19937 random(4);
  constexpr std::size_t kHidden = 128;
  const std::vector<std::uint32_t> ids(12, 1);
  ModelFit fit(kHidden);
  for (int i = 0; i < 40; ++i) fit.add(random_numbers(random, 12 * kHidden, 0.7F), ids);
  for (const Signs signs : {Signs::kFull, Signs::kProjected}) {
    const SignCoder coder(fit.model(64), {.signs = signs, .drop_frequent = false});
    EXPECT_EQ(coder.dimension(), signs == Signs::kFull ? kHidden : 64U);
    std::vector<std::vector<float>> passages;
    std::vector<std::vector<std::byte>> codes(20);
    for (std::size_t p = 0; p < codes.size(); ++p) {
      passages.push_back(random_numbers(random, 12 * kHidden, 0.7F));
      coder.append_passage(passages.back(), ids, codes[p]);
    }
    for (std::size_t p = 0; p < codes.size(); ++p) {
      const LateQuestion question(coder.question(passages[p]), coder.dimension());
      for (std::size_t other = 0; other < codes.size(); ++other) {
        if (other == p) continue;
        EXPECT_GT(question.score(codes[p]), question.score(codes[other]) + 0.2);
      }
    }
  }
}

TEST(ModelFit, FindsTheAxesThatCarryMost) {
  std::mt19937 random(5);
  constexpr std::size_t kHidden = 24;
  // All variance is in eight dimensions.
  ModelFit fit(kHidden);
  for (int i = 0; i < 400; ++i) {
    auto token = random_numbers(random, kHidden);
    for (std::size_t k = 8; k < kHidden; ++k) token[k] = 3 + token[k] * 0.01F;
    fit.add(token, std::vector<std::uint32_t>{static_cast<std::uint32_t>(i % 200 < 150 ? i % 3 + 1 : i)});
  }
  const LateModel model = fit.model(8);
  EXPECT_NEAR(model.centre[20], 3, 0.01);
  double kept = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) kept += std::pow(model.basis[i * 8 + j], 2);
  }
  EXPECT_NEAR(kept, 8, 0.01) << "unit axes inside those numbers";
  EXPECT_TRUE(std::ranges::is_sorted(model.frequent));
  for (const std::uint32_t id : {1U, 2U, 3U}) EXPECT_TRUE(std::ranges::binary_search(model.frequent, id));
}

TEST(LateModel, ComesBackAndEveryFlipIsSeen) {
  std::mt19937 random(6);
  LateModel model;
  model.centre = random_numbers(random, 16);
  model.basis.assign(16 * 8, 0.25F);
  model.frequent = {1, 5};
  model.probe = {0.5F};
  const std::string bytes = model.to_bytes();
  const auto back = LateModel::from_bytes(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->centre, model.centre);
  EXPECT_EQ(back->basis, model.basis);
  EXPECT_EQ(back->frequent, model.frequent);
  EXPECT_EQ(back->probe, model.probe);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_FALSE(LateModel::from_bytes(std::as_bytes(std::span(damaged)))) << i;
    EXPECT_FALSE(LateModel::from_bytes(std::as_bytes(std::span(bytes)).first(i))) << i;
  }
}

}  // namespace
}  // namespace footnote::late
