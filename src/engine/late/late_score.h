#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/cpu_level.h"

namespace footnote::late {

/// Question tokens beyond this many are not compared: cost grows with each, and so long a text has said what it wants.
inline constexpr std::size_t kQuestionTokensMax = 64;
inline constexpr std::size_t kDimensionMax = 4096;

/// A table has what each of the 16 forms of four bits is worth, and tables come in fours, whose entries add up to a byte at most.
inline constexpr std::size_t kTableEntries = 16;
inline constexpr std::size_t kTableBits = 4;
inline constexpr std::size_t kTablesTogether = 4;

/// How many tables a token of so many bits has: whole fours.
constexpr std::size_t table_count(std::size_t dimension) {
  return (dimension / kTableBits + kTablesTogether - 1) / kTablesTogether * kTablesTogether;
}

/// For each of `tokens` question tokens the largest sum of the entries that a passage token's bits pick, over `count` passage tokens.
/// `tables` are [token][table_count(dimension)][kTableEntries], the lowest bits first. Levels agree to the last bit: all are integers.
/// REQUIRES: count > 0; 0 < tokens <= kQuestionTokensMax; dimension a multiple of 8, at most kDimensionMax.
using LateKernel = void (*)(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs,
                            std::size_t count, std::uint16_t* best);

/// REQUIRES: the level is usable here.
LateKernel late_kernel(cpu::CpuLevel level);

/// One question, made ready to be compared with many passages. Immutable, thread-safe.
class LateQuestion {
 public:
  /// `tokens` as SignCoder::question() gives them, `dimension` numbers each; those past kQuestionTokensMax are left out.
  /// REQUIRES: at least one token; the level is usable here.
  LateQuestion(std::span<const float> tokens, std::size_t dimension, cpu::CpuLevel level = cpu::best_cpu_level());

  std::size_t dimension() const { return dimension_; }

  /// The mean over the question's tokens of the best product with a passage token's signs, scaled so that a token that
  /// has the very signs of another reaches at most 1. 0 for a passage without tokens.
  /// REQUIRES: whole tokens of dimension() bits.
  double score(std::span<const std::byte> signs) const;

 private:
  /// A product is worth step * the sum of entries + start.
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
