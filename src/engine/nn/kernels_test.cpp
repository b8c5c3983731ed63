#include "engine/nn/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "engine/nn/float_buffer.h"

namespace footnote::nn {
namespace {

class EveryKernelLevel : public ::testing::TestWithParam<cpu::CpuLevel> {
 protected:
  const Kernels& kernels() const { return *kernels_of(GetParam()); }

  std::vector<float> random_floats(std::size_t count, float scale) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> out(count);
    for (float& value : out) value = normal(random_);
    return out;
  }

 private:
  std::mt19937 random_{5};
};

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernelLevel, ::testing::ValuesIn(cpu::usable_cpu_levels().begin(), cpu::usable_cpu_levels().end()),
                         [](const auto& test) { return std::string(to_string(test.param)); });

double exact_gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

TEST_P(EveryKernelLevel, MultipliesAnyNumberOfRows) {
  constexpr std::size_t kDepth = 37;
  constexpr std::size_t kColumns = 96;
  const auto weight = random_floats(kColumns * kDepth, 0.3F);
  const auto bias = random_floats(kColumns, 1);
  const PackedMatrix::Part part{weight, bias};
  const auto packed = PackedMatrix::pack({&part, 1}, kDepth, kernels().panel_columns);
  ASSERT_TRUE(packed.has_value());
  for (std::size_t rows = 1; rows <= 30; ++rows) {
    const auto left = random_floats(rows * kDepth, 1);
    std::vector<float> out(rows * (kColumns + 3), 99);
    kernels().multiply({.left = left.data(),
                        .left_stride = kDepth,
                        .panels = packed->panels(),
                        .bias = packed->bias(),
                        .out = out.data(),
                        .out_stride = kColumns + 3,
                        .rows = rows,
                        .columns = kColumns,
                        .depth = kDepth,
                        .activation = Activation::kNone});
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        double expected = bias[column];
        for (std::size_t k = 0; k < kDepth; ++k) expected += static_cast<double>(left[row * kDepth + k]) * weight[column * kDepth + k];
        ASSERT_NEAR(out[row * (kColumns + 3) + column], expected, 1e-5);
      }
      ASSERT_EQ(out[row * (kColumns + 3) + kColumns], 99) << "wrote past the row";
    }
  }
}

TEST_P(EveryKernelLevel, ARowIsTheSameInAnyCompany) {
  constexpr std::size_t kDepth = 64;
  constexpr std::size_t kColumns = 32;
  const auto weight = random_floats(kColumns * kDepth, 0.3F);
  const auto bias = random_floats(kColumns, 1);
  const PackedMatrix::Part part{weight, bias};
  const auto packed = PackedMatrix::pack({&part, 1}, kDepth, kernels().panel_columns);
  const auto left = random_floats(40 * kDepth, 1);
  const auto run = [&](std::size_t first, std::size_t rows) {
    std::vector<float> out(rows * kColumns);
    kernels().multiply({.left = left.data() + first * kDepth,
                        .left_stride = kDepth,
                        .panels = packed->panels(),
                        .bias = packed->bias(),
                        .out = out.data(),
                        .out_stride = kColumns,
                        .rows = rows,
                        .columns = kColumns,
                        .depth = kDepth,
                        .activation = Activation::kGelu});
    return out;
  };
  const auto all = run(0, 40);
  for (std::size_t first = 0; first < 40; ++first) {
    for (const std::size_t rows : {1, 2, 3, 5, 7, 11, 12, 13}) {
      if (first + rows > 40) continue;
      const auto some = run(first, rows);
      ASSERT_EQ(std::memcmp(some.data(), all.data() + first * kColumns, some.size() * sizeof(float)), 0);
    }
  }
}

TEST_P(EveryKernelLevel, GeluIsExactToAMillionth) {
  // With a depth of one, a left side of ones and no bias, the right side comes through the activation untouched.
  constexpr std::size_t kColumns = 32 * 4000;
  std::vector<float> inputs(kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) inputs[i] = -20 + 40 * static_cast<float>(i) / kColumns;
  inputs[0] = -1e30F;
  inputs[1] = 1e30F;
  inputs[2] = 0;
  const float one = 1;
  std::vector<float> out(kColumns);
  kernels().multiply({.left = &one,
                      .left_stride = 1,
                      .panels = inputs.data(),
                      .bias = nullptr,
                      .out = out.data(),
                      .out_stride = kColumns,
                      .rows = 1,
                      .columns = kColumns,
                      .depth = 1,
                      .activation = Activation::kGelu});
  double worst = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double expected = exact_gelu(inputs[i]);
    worst = std::max(worst, std::abs(out[i] - expected) / std::max(1.0, std::abs(expected)));
  }
  EXPECT_LT(worst, 1e-6);
}

TEST_P(EveryKernelLevel, SoftmaxSumsToOneAndOrdersByScore) {
  for (std::size_t columns = 1; columns <= 70; ++columns) {
    constexpr std::size_t kStride = 80;
    constexpr float kScale = 0.17F;
    auto scores = random_floats(3 * kStride, 30);
    const auto before = scores;
    kernels().softmax({.scores = scores.data(), .stride = kStride, .rows = 3, .columns = columns, .scale = kScale});
    for (std::size_t row = 0; row < 3; ++row) {
      double top = -1e30;
      for (std::size_t k = 0; k < columns; ++k) top = std::max(top, static_cast<double>(before[row * kStride + k]));
      double sum = 0;
      for (std::size_t k = 0; k < columns; ++k) sum += std::exp(kScale * (before[row * kStride + k] - top));
      for (std::size_t k = 0; k < columns; ++k) {
        const double expected = std::exp(kScale * (before[row * kStride + k] - top)) / sum;
        ASSERT_NEAR(scores[row * kStride + k], expected, 1e-6) << columns;
      }
    }
  }
}

TEST_P(EveryKernelLevel, AddNormNormalisesTheSum) {
  constexpr std::size_t kWidth = 384;
  auto rows = random_floats(2 * kWidth, 3);
  const auto before = rows;
  const auto addend = random_floats(2 * kWidth, 3);
  const auto gain = random_floats(kWidth, 1);
  const auto shift = random_floats(kWidth, 1);
  kernels().add_norm({.rows = rows.data(),
                      .addend = addend.data(),
                      .gain = gain.data(),
                      .shift = shift.data(),
                      .count = 2,
                      .width = kWidth,
                      .epsilon = 1e-12F});
  for (std::size_t row = 0; row < 2; ++row) {
    const auto sum_at = [&](std::size_t k) { return static_cast<double>(before[row * kWidth + k]) + addend[row * kWidth + k]; };
    double mean = 0;
    for (std::size_t k = 0; k < kWidth; ++k) mean += sum_at(k) / kWidth;
    double variance = 0;
    for (std::size_t k = 0; k < kWidth; ++k) variance += (sum_at(k) - mean) * (sum_at(k) - mean) / kWidth;
    for (std::size_t k = 0; k < kWidth; ++k) {
      ASSERT_NEAR(rows[row * kWidth + k], (sum_at(k) - mean) / std::sqrt(variance) * gain[k] + shift[k], 1e-5);
    }
  }
}

}  // namespace
}  // namespace footnote::nn
