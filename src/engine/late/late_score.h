#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/cpu_level.h"

namespace footnote::late {

/// Question tokens beyond this many are not compared: cost grows with each, and so long a text has said what it wants.
inline constexpr std::size_t kQuestionTokensMax = 64;

/// How many question tokens lie together, and how many numbers of each.
inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kStep = 4;

/// For each of `tokens` question tokens the largest sum of its numbers at the set bits, over `count` passage tokens.
/// `lanes` holds numbers as [group][dimension / kStep][kLanes][kStep], kLanes tokens a group. Levels agree to the last bit: all are
/// integers. REQUIRES: count > 0; 0 < tokens <= kQuestionTokensMax; dimension a multiple of 8, at most kDimensionMax.
using LateKernel = void (*)(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                            std::int32_t* best);
inline constexpr std::size_t kDimensionMax = 4096;

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
  std::size_t dimension_;
  LateKernel kernel_;
  std::size_t tokens_;
  std::vector<std::int8_t> lanes_;  // As kernels take them.
  float scales_[kQuestionTokensMax] = {};
  std::int32_t sums_[kQuestionTokensMax] = {};
};

}  // namespace footnote::late
