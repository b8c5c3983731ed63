#include "engine/late/late_score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "engine/late/late_kernels.h"

namespace footnote::late {

LateKernel late_kernel(cpu::CpuLevel level) {
  switch (level) {
    case cpu::CpuLevel::kPortable: return best_sums_portable;
    case cpu::CpuLevel::kAvx2:
    case cpu::CpuLevel::kAvx2Int8:
    case cpu::CpuLevel::kAvx512:
    case cpu::CpuLevel::kVnni:
    case cpu::CpuLevel::kAmx: return best_sums_avx2;
  }
  return best_sums_portable;
}

LateQuestion::LateQuestion(std::span<const float> tokens, std::size_t dimension, cpu::CpuLevel level)
    : dimension_(dimension), kernel_(late_kernel(level)), tokens_(std::min(tokens.size() / dimension, kQuestionTokensMax)) {
  FOOTNOTE_ASSERT(tokens_ > 0 && dimension % 8 == 0 && dimension <= kDimensionMax);
  const std::size_t bytes = table_count(dimension) * kTableEntries;
  tables_.assign(tokens_ * bytes, 0);
  for (std::size_t t = 0; t < tokens_; ++t) lines_[t] = fill_tables(tokens.subspan(t * dimension, dimension), tables_.data() + t * bytes);
}

LateQuestion::Line LateQuestion::fill_tables(std::span<const float> token, std::uint8_t* tables) {
  // What the entries of four tables add up to may round up by half for each of them.
  constexpr float kSumMax = std::numeric_limits<std::uint8_t>::max() - kTablesTogether / 2;
  constexpr std::size_t kNumbersTogether = kTableBits * kTablesTogether;
  Line line;
  float sum = 0, below = 0, widest = 0;
  for (std::size_t i = 0; i < token.size(); i += kNumbersTogether) {
    float width = 0;
    for (const float value : token.subspan(i, std::min(kNumbersTogether, token.size() - i))) {
      width += std::abs(value);
      sum += value;
      below += std::min(value, 0.0F);
    }
    widest = std::max(widest, width);
  }
  // A set bit counts +1, one that is not -1: twice the sum at the set ones, less the sum of all.
  line.start = 2 * below - sum;
  if (!(widest > 0)) return line;
  line.step = 2 * widest / kSumMax;
  const float inverse = kSumMax / widest;
  for (std::size_t i = 0; i < token.size(); i += kTableBits, tables += kTableEntries) {
    // An entry is worth what the numbers at its bits are, above the least that there is.
    float worth[kTableEntries] = {0.5F};
    for (std::size_t bit = 0; bit < kTableBits; ++bit) {
      worth[0] -= std::min(token[i + bit], 0.0F) * inverse;
    }
    for (std::size_t bit = 0; bit < kTableBits; ++bit) {
      const float own = token[i + bit] * inverse;
      for (std::size_t form = 0; form < std::size_t{1} << bit; ++form) worth[(std::size_t{1} << bit) + form] = worth[form] + own;
    }
    for (std::size_t form = 0; form < kTableEntries; ++form) tables[form] = static_cast<std::uint8_t>(worth[form]);
  }
  return line;
}

double LateQuestion::score(std::span<const std::byte> signs) const {
  const std::size_t bytes = dimension_ / 8;
  FOOTNOTE_ASSERT(signs.size() % bytes == 0);
  if (signs.empty()) return 0;
  std::uint16_t best[kQuestionTokensMax];
  kernel_(tables_.data(), tokens_, dimension_, signs.data(), signs.size() / bytes, best);
  double total = 0;
  for (std::size_t t = 0; t < tokens_; ++t) total += lines_[t].step * static_cast<float>(best[t]) + lines_[t].start;
  return total / static_cast<double>(tokens_) / std::sqrt(static_cast<double>(dimension_));
}

}  // namespace footnote::late
