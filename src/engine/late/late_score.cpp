#include "engine/late/late_score.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "engine/late/late_kernels.h"

namespace footnote::late {

LateKernel late_kernel(cpu::CpuLevel level) {
  switch (level) {
    case cpu::CpuLevel::kPortable: return best_sums_portable;
    case cpu::CpuLevel::kAvx2:
    case cpu::CpuLevel::kAvx2Int8: return best_sums_avx2;
    case cpu::CpuLevel::kAvx512: return best_sums_avx512;
    case cpu::CpuLevel::kVnni:
    case cpu::CpuLevel::kAmx: return best_sums_vnni;
  }
  return best_sums_portable;
}

LateQuestion::LateQuestion(std::span<const float> tokens, std::size_t dimension, cpu::CpuLevel level)
    : dimension_(dimension), kernel_(late_kernel(level)), tokens_(std::min(tokens.size() / dimension, kQuestionTokensMax)) {
  FOOTNOTE_ASSERT(tokens_ > 0 && dimension % 8 == 0 && dimension <= kDimensionMax);
  groups_.resize((tokens_ + kLanes - 1) / kLanes);
  for (std::size_t t = 0; t < tokens_; ++t) {
    Group& group = groups_[t / kLanes];
    if (group.lanes.empty()) group.lanes.assign(dimension * kLanes, 0);
    const std::size_t lane = group.count++;
    const float* token = tokens.data() + t * dimension;
    float largest = 0;
    for (std::size_t i = 0; i < dimension; ++i) largest = std::max(largest, std::abs(token[i]));
    if (!(largest > 0)) continue;
    group.scale[lane] = largest / 127;
    for (std::size_t i = 0; i < dimension; ++i) {
      const auto value = static_cast<std::int8_t>(std::lround(token[i] / largest * 127));
      group.lanes[(i / kStep * kLanes + lane) * kStep + i % kStep] = value;
      group.sum[lane] += value;
    }
  }
}

double LateQuestion::score(std::span<const std::byte> signs) const {
  const std::size_t bytes = dimension_ / 8;
  FOOTNOTE_ASSERT(signs.size() % bytes == 0);
  if (signs.empty()) return 0;
  double total = 0;
  for (const Group& group : groups_) {
    std::int32_t best[kLanes];
    kernel_(group.lanes.data(), dimension_, signs.data(), signs.size() / bytes, best);
    // A set bit counts +1, one that is not -1: twice the sum at the set ones, less the sum of all.
    for (std::size_t lane = 0; lane < group.count; ++lane)
      total += group.scale[lane] * static_cast<float>(2 * best[lane] - group.sum[lane]);
  }
  return total / static_cast<double>(tokens_) / std::sqrt(static_cast<double>(dimension_));
}

}  // namespace footnote::late
