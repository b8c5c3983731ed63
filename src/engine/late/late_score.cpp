#include "engine/late/late_score.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

namespace {

/// The values of a table's four bits.
using Numbers [[gnu::vector_size(16)]] = float;
using Integers [[gnu::vector_size(16)]] = std::int32_t;
static_assert(sizeof(Numbers) == kTableBits * sizeof(float));

Numbers load(const float* from) {
  Numbers out;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

template <class Four>
auto total(Four values) {
  return values[0] + values[1] + values[2] + values[3];
}

/// For half of a table's entries.
using Words [[gnu::vector_size(16)]] = std::uint16_t;
using Bytes [[gnu::vector_size(8)]] = std::uint8_t;

constexpr std::uint16_t kSet = 0xFFFF;
/// Entries that have the first bit, the second, the third.
constexpr Words kHasBit[] = {
    {0, kSet, 0, kSet, 0, kSet, 0, kSet}, {0, 0, kSet, kSet, 0, 0, kSet, kSet}, {0, 0, 0, 0, kSet, kSet, kSet, kSet}};
/// Entries are summed in fixed point with this many fraction bits, then rounded.
constexpr int kPartBits = 8;

}  // namespace

LateQuestion::LateQuestion(std::span<const float> tokens, std::size_t dimension, cpu::CpuLevel level)
    : dimension_(dimension), kernel_(late_kernel(level)), tokens_(std::min(tokens.size() / dimension, kQuestionTokensMax)) {
  FOOTNOTE_ASSERT(tokens_ > 0 && dimension % 8 == 0 && dimension <= kDimensionMax);
  const std::size_t bytes = table_count(dimension) * kTableEntries;
  tables_.assign(tokens_ * bytes, 0);
  for (std::size_t t = 0; t < tokens_; ++t) lines_[t] = fill_tables(tokens.subspan(t * dimension, dimension), tables_.data() + t * bytes);
}

LateQuestion::Line LateQuestion::fill_tables(std::span<const float> token, std::uint8_t* tables) {
  // Each of the four entries may round up by half.
  constexpr float kSumMax = std::numeric_limits<std::uint8_t>::max() - kTablesTogether / 2;
  constexpr std::size_t kNumbersTogether = kTableBits * kTablesTogether;
  Line line;
  Numbers sums = {}, belows = {};
  float widest = 0;
  for (std::size_t i = 0; i < token.size(); i += kNumbersTogether) {
    Numbers width = {};
    for (std::size_t at = i; at < std::min(i + kNumbersTogether, token.size()); at += kTableBits) {
      const Numbers values = load(token.data() + at);
      const Numbers below = values < 0 ? values : Numbers{};
      width += values - 2 * below;
      sums += values;
      belows += below;
    }
    widest = std::max(widest, total(width));
  }
  // A set bit counts +1 and a clear bit -1: product = 2 * (sum at set bits) - (sum of all).
  line.start = 2 * total(belows) - total(sums);
  const float parts = kSumMax / widest * (1 << kPartBits);
  if (!std::isnormal(parts) || !std::isfinite(line.start)) return line;  // All zeros, or overflow.
  line.step = 2 * widest / kSumMax;
  for (std::size_t i = 0; i < token.size(); i += kTableBits, tables += kTableEntries) {
    // An entry is the sum of the values at its set bits, minus the smallest such sum.
    const Numbers worth = load(token.data() + i) * parts;
    const Integers own = __builtin_convertvector(worth + (worth < 0 ? Numbers{} - 0.5F : Numbers{} + 0.5F), Integers);
    const int start = (1 << (kPartBits - 1)) - total(own < 0 ? own : Integers{});
    Words low = Words{} + static_cast<std::uint16_t>(start);
    for (std::size_t bit = 0; bit < std::size(kHasBit); ++bit) low += kHasBit[bit] & static_cast<std::uint16_t>(own[bit]);
    const Words high = low + static_cast<std::uint16_t>(own[kTableBits - 1]);
    const Bytes entries[] = {__builtin_convertvector(low >> kPartBits, Bytes), __builtin_convertvector(high >> kPartBits, Bytes)};
    std::memcpy(tables, entries, sizeof(entries));
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
