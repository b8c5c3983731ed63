#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "engine/ann/codes.h"
#include "engine/ann/exact_scores.h"
#include "engine/ann/graph.h"

namespace footnote::ann {

/// Bounds of a query's score with rows, by their codes. Its methods run once per row, so they are inline.
///
/// With x = s a + r, where s a are the dequantised codes and r is the rest, and q = s' b + r' likewise,
///   x.q = (s a).(s' b) + r.(s' b) + x.r',  so the error is at most |r| |s' b| + |x| |r'|.
/// The rounding error of the full dot product is added to that.
class CodeScores {
 public:
  CodeScores(const VectorSpace& space, std::span<const float> query) : space_(space), codes_(Codes::stride_for(space.dimension)) {
    facts_ = encode(query, codes_.data());
    length_ = facts_.norm + facts_.error;
    // A sum over 16 lanes rounds once per step, and once in each of a few final additions.
    constexpr float kUnit = std::numeric_limits<float>::epsilon();
    slack_ = (static_cast<float>(space.dimension) / 16 + 16) * kUnit;
  }

  void products(const Codes& codes, std::size_t first, std::size_t count, std::int32_t* out) const {
    space_.kernels->dot_codes(codes_.data(), codes.codes(first), codes.stride(), count, out);
  }

  struct Bounds {
    float lower;
    float upper;
  };
  /// For a row whose codes are damaged: only its full vector can score it.
  static constexpr Bounds kUnknown{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  /// Bounds of the dot product, or of the negated squared distance.
  Bounds bounds(const CodeFacts& row, std::int32_t product) const {
    const float middle = this->middle(row, product), off = this->off(row);
    if (space_.metric == Metric::kDot) return known(middle - off, middle + off);
    const float squares = facts_.norm * facts_.norm + row.norm * row.norm;
    const float rounding = 2 * slack_ * squares;
    return known(2 * (middle - off) - squares - rounding, std::min(0.0F, 2 * (middle + off) - squares + rounding));
  }
  /// True only if the row's dot product is below `floor`. Cheaper than bounds().
  bool is_below(float floor, const CodeFacts& row, std::int32_t product) const {
    return space_.metric == Metric::kDot && middle(row, product) + off(row) < floor;
  }
  GraphPoint point() const { return {codes_.data(), facts_.scale, facts_.norm}; }
  /// Converts a value of bounds() to a score.
  float to_score(float value) const { return space_.metric == Metric::kDot ? value : -std::sqrt(std::max(0.0F, -value)); }

 private:
  float middle(const CodeFacts& row, std::int32_t product) const { return facts_.scale * row.scale * static_cast<float>(product); }
  float off(const CodeFacts& row) const { return length_ * row.error + facts_.error * row.norm + slack_ * (facts_.norm * row.norm); }
  /// NaN (from overflow) becomes bounds that rule nothing out.
  static Bounds known(float lower, float upper) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {std::isnan(lower) ? -kInfinity : lower, std::isnan(upper) ? kInfinity : upper};
  }

  const VectorSpace& space_;
  AlignedArray<std::int8_t> codes_;
  CodeFacts facts_;
  float length_ = 0;
  float slack_ = 0;
};

}  // namespace footnote::ann
