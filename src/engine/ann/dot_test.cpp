#include "engine/ann/dot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/ann/aligned_floats.h"

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

TEST(Dot, EveryLevelAgreesWithDoublePrecision) {
  for (const std::size_t dimension : {1, 15, 16, 17, 128, 384, 1000}) {
    for (const std::size_t count : {1, 2, 3, 4, 5, 7, 64}) {
      const Rows rows(dimension, count);
      for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
        std::vector<float> out(count);
        dot_kernel(level)(rows.query.data(), rows.values.data(), rows.stride, count, out.data());
        for (std::size_t r = 0; r < count; ++r) {
          double expected = 0;
          for (std::size_t i = 0; i < dimension; ++i) {
            expected += static_cast<double>(rows.query.data()[i]) * rows.values.data()[r * rows.stride + i];
          }
          EXPECT_NEAR(out[r], expected, 1e-5) << to_string(level) << " dimension " << dimension;
        }
      }
    }
  }
}

TEST(Dot, ARowsResultDoesNotDependOnItsNeighbours) {
  const Rows rows(384, 9);
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    const DotKernel dot = dot_kernel(level);
    std::vector<float> together(9);
    dot(rows.query.data(), rows.values.data(), rows.stride, 9, together.data());
    for (std::size_t r = 0; r < 9; ++r) {
      float alone = 0;
      dot(rows.query.data(), rows.values.data() + r * rows.stride, rows.stride, 1, &alone);
      EXPECT_EQ(alone, together[r]) << to_string(level) << " row " << r;
    }
  }
}

}  // namespace
}  // namespace footnote::ann
