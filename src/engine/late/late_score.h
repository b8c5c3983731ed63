#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/cpu_level.h"

namespace footnote::late {

/// Further question tokens are ignored: each costs time and rarely changes the result of a question this long.
inline constexpr std::size_t kQuestionTokensMax = 64;
inline constexpr std::size_t kDimensionMax = 4096;

/// A table holds the value of each of the 16 patterns of four bits. Tables come in groups of four, whose entries sum to at most 255.
inline constexpr std::size_t kTableEntries = 16;
inline constexpr std::size_t kTableBits = 4;
inline constexpr std::size_t kTablesTogether = 4;

/// The number of tables for a token of `dimension` bits, rounded up to a multiple of four.
constexpr std::size_t table_count(std::size_t dimension) {
  return (dimension / kTableBits + kTablesTogether - 1) / kTablesTogether * kTablesTogether;
}

/// best[t] = max over passage tokens p of sum over tables i of tables[t][i][bits i of p], for each question token t. `tables` is
/// [token][table_count(dimension)][kTableEntries], lowest bits first. All arithmetic is on integers, so levels agree exactly.
/// REQUIRES: count > 0; 0 < tokens <= kQuestionTokensMax; dimension is a multiple of 8, at most kDimensionMax.
using LateKernel = void (*)(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs,
                            std::size_t count, std::uint16_t* best);

/// REQUIRES: the CPU supports the level.
LateKernel late_kernel(cpu::CpuLevel level);

/// A question prepared for comparison with many passages (late interaction). Immutable, thread-safe.
class LateQuestion {
 public:
  /// `tokens` as returned by SignCoder::question(), `dimension` values each; those beyond kQuestionTokensMax are dropped. REQUIRES: at
  /// least one token; the CPU supports the level.
  LateQuestion(std::span<const float> tokens, std::size_t dimension, cpu::CpuLevel level = cpu::best_cpu_level());

  std::size_t dimension() const { return dimension_; }

  /// MaxSim: the mean over question tokens of the best dot product with a passage token's signs, scaled so that a token with identical
  /// signs scores at most 1. 0 for a passage without tokens. REQUIRES: whole tokens of dimension() bits.
  double score(std::span<const std::byte> signs) const;

 private:
  /// product = step * (sum of entries) + start.
  struct Line {
    float step = 0;
    float start = 0;
  };
  static Line fill_tables(std::span<const float> token, std::uint8_t* tables);

  std::size_t dimension_;
  LateKernel kernel_;
  std::size_t tokens_;
  std::vector<std::uint8_t> tables_;
  Line lines_[kQuestionTokensMax] = {};
};

}  // namespace footnote::late
