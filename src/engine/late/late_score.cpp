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

namespace {

/// As std::lround() has it, halves away from zero; without a call for each number.
std::int32_t rounded(float value) {
  const auto whole = static_cast<std::int32_t>(value);
  const float rest = value - static_cast<float>(whole);
  return whole + static_cast<std::int32_t>(rest >= 0.5F) - static_cast<std::int32_t>(rest <= -0.5F);
}

}  // namespace

LateQuestion::LateQuestion(std::span<const float> tokens, std::size_t dimension, cpu::CpuLevel level)
    : dimension_(dimension), kernel_(late_kernel(level)), tokens_(std::min(tokens.size() / dimension, kQuestionTokensMax)) {
  FOOTNOTE_ASSERT(tokens_ > 0 && dimension % 8 == 0 && dimension <= kDimensionMax);
  lanes_.assign((tokens_ + kLanes - 1) / kLanes * kLanes * dimension, 0);
  for (std::size_t t = 0; t < tokens_; ++t) {
    const float* token = tokens.data() + t * dimension;
    float largest = 0;
    for (std::size_t i = 0; i < dimension; ++i) largest = std::max(largest, std::abs(token[i]));
    if (!(largest > 0)) continue;
    scales_[t] = largest / 127;
    std::int8_t* const lane = lanes_.data() + t / kLanes * kLanes * dimension + t % kLanes * kStep;
    for (std::size_t i = 0; i < dimension; ++i) {
      const std::int32_t value = rounded(token[i] / largest * 127);
      lane[i / kStep * kLanes * kStep + i % kStep] = static_cast<std::int8_t>(value);
      sums_[t] += value;
    }
  }
}

double LateQuestion::score(std::span<const std::byte> signs) const {
  const std::size_t bytes = dimension_ / 8;
  FOOTNOTE_ASSERT(signs.size() % bytes == 0);
  if (signs.empty()) return 0;
  std::int32_t best[kQuestionTokensMax];
  kernel_(lanes_.data(), tokens_, dimension_, signs.data(), signs.size() / bytes, best);
  double total = 0;
  // A set bit counts +1, one that is not -1: twice the sum at the set ones, less the sum of all.
  for (std::size_t t = 0; t < tokens_; ++t) total += scales_[t] * static_cast<float>(2 * best[t] - sums_[t]);
  return total / static_cast<double>(tokens_) / std::sqrt(static_cast<double>(dimension_));
}

}  // namespace footnote::late
