#include "engine/ann/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/ann/aligned_array.h"

namespace footnote::ann {
namespace {

struct Rows {
  Rows(std::size_t dimension, std::size_t count) : stride((dimension + 15) / 16 * 16), query(stride), values(stride * count) {
    std::mt19937 random(static_cast<unsigned>(dimension * 1000 + count));
    std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(dimension)));
    for (std::size_t i = 0; i < dimension; ++i) query.data()[i] = normal(random);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t i = 0; i < dimension; ++i) values.data()[r * stride + i] = normal(random);
    }
  }
  std::size_t stride;
  AlignedFloats query;
  AlignedFloats values;
};

struct FloatKernel {
  Kernels::Floats Kernels::* kernel;
  double (*term)(double, double);
};
const FloatKernel kFloatKernels[] = {{&Kernels::dot, [](double a, double b) { return a * b; }},
                                     {&Kernels::squared_distance, [](double a, double b) { return (a - b) * (a - b); }},
                                     {&Kernels::manhattan, [](double a, double b) { return std::fabs(a - b); }}};

TEST(Kernels, EveryLevelAgreesWithDoublePrecision) {
  for (const std::size_t dimension : {1, 15, 16, 17, 128, 384, 1000}) {
    for (const std::size_t count : {1, 2, 3, 4, 5, 7, 64}) {
      const Rows rows(dimension, count);
      for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
        for (const FloatKernel& which : kFloatKernels) {
          std::vector<float> out(count);
          (kernels_of(level).*which.kernel)(rows.query.data(), rows.values.data(), rows.stride, count, out.data());
          for (std::size_t r = 0; r < count; ++r) {
            double expected = 0;
            for (std::size_t i = 0; i < dimension; ++i)
              expected += which.term(rows.query.data()[i], rows.values.data()[r * rows.stride + i]);
            EXPECT_NEAR(out[r], expected, 1e-5 * (1 + std::fabs(expected))) << to_string(level) << " dimension " << dimension;
          }
        }
      }
    }
  }
}

TEST(Kernels, ARowsResultDoesNotDependOnItsNeighbours) {
  const Rows rows(384, 9);
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    for (const FloatKernel& which : kFloatKernels) {
      const Kernels::Floats kernel = kernels_of(level).*which.kernel;
      std::vector<float> together(9);
      kernel(rows.query.data(), rows.values.data(), rows.stride, 9, together.data());
      for (std::size_t r = 0; r < 9; ++r) {
        float alone = 0;
        kernel(rows.query.data(), rows.values.data() + r * rows.stride, rows.stride, 1, &alone);
        EXPECT_EQ(alone, together[r]) << to_string(level) << " row " << r;
      }
    }
  }
}

TEST(Kernels, CodesGiveTheSameSumsAtEveryLevel) {
  std::mt19937 random(7);
  for (const std::size_t stride : {64, 128, 192, 384, 1024}) {
    for (const bool extreme : {false, true}) {
      constexpr std::size_t kCount = 9;
      AlignedArray<std::int8_t> query(stride), rows(stride * kCount);
      const auto code = [&] {
        return static_cast<std::int8_t>(extreme ? (random() % 2 == 0 ? 127 : -127) : static_cast<int>(random() % 255) - 127);
      };
      for (std::size_t i = 0; i < stride; ++i) query.data()[i] = code();
      for (std::size_t i = 0; i < stride * kCount; ++i) rows.data()[i] = code();
      for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
        std::vector<std::int32_t> out(kCount);
        kernels_of(level).dot_codes(query.data(), rows.data(), stride, kCount, out.data());
        for (std::size_t r = 0; r < kCount; ++r) {
          std::int32_t expected = 0;
          for (std::size_t i = 0; i < stride; ++i) expected += query.data()[i] * rows.data()[r * stride + i];
          EXPECT_EQ(out[r], expected) << to_string(level);
        }
      }
    }
  }
}

TEST(Kernels, SignsGiveTheSameSumsAtEveryLevel) {
  std::mt19937 random(8);
  for (const std::size_t row_bytes : {4, 8, 12, 48, 128}) {
    for (const std::size_t blocks : {1, 3, 4, 9}) {
      const std::size_t rows = blocks * kSignBlockRows;
      std::vector<std::uint8_t> tables(row_bytes * 32), signs(row_bytes * rows);
      // Both extremes of an entry: an overflowing byte shows.
      for (auto& entry : tables) entry = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % (kSignEntryMax + 1) : kSignEntryMax);
      for (auto& byte : signs) byte = static_cast<std::uint8_t>(random());
      for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
        std::vector<std::uint16_t> out(rows);
        kernels_of(level).sign_sums(tables.data(), signs.data(), row_bytes, blocks, out.data());
        for (std::size_t r = 0; r < rows; ++r) {
          unsigned expected = 0;
          for (std::size_t p = 0; p < row_bytes; ++p) {
            const std::uint8_t byte = signs[(r / kSignBlockRows * row_bytes + p) * kSignBlockRows + r % kSignBlockRows];
            expected += tables[p * 32 + (byte & 15)] + tables[p * 32 + 16 + (byte >> 4)];
          }
          EXPECT_EQ(out[r], expected) << to_string(level) << " row " << r << " of " << row_bytes << " bytes";
        }
      }
    }
  }
}

TEST(Kernels, EveryLevelFindsTheRowsThatReachABound) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    // Whole numbers, so that no level rounds.
    const SignLine line{.slope = 2, .offset = -40, .bend = static_cast<float>(round % 3) - 1};
    std::uint16_t sums[kSignBlockRows];
    float norms[kSignBlockRows];
    for (auto& sum : sums) sum = static_cast<std::uint16_t>(random() % 50);
    for (auto& norm : norms) norm = static_cast<float>(random() % 4);
    const float least = static_cast<float>(random() % 100) - 50;
    std::uint32_t expected = 0;
    for (std::size_t r = 0; r < kSignBlockRows; ++r) {
      const float estimate = norms[r] * (2 * static_cast<float>(sums[r]) - 40 + line.bend * norms[r]);
      expected |= (estimate >= least ? 1U : 0U) << r;
    }
    for (const cpu::CpuLevel level : cpu::usable_cpu_levels())
      EXPECT_EQ(kernels_of(level).reaching(sums, norms, line, least), expected) << to_string(level);
  }
}

}  // namespace
}  // namespace footnote::ann
