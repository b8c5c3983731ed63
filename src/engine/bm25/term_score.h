#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/bm25/posting_list.h"

namespace footnote::bm25 {

struct Bm25Options {
  float k1 = 0.9F;
  float b = 0.4F;

  bool operator==(const Bm25Options&) const = default;
};

/// Scores are summed as integers, so that a sum does not depend on the order of its terms, and a pruned search gives the same scores as a
/// full one.
using Units = std::int32_t;

/// About the maximum score of a query, in units. A float represents integers up to twice this exactly.
inline constexpr double kQueryUnits = 1 << 23;

/// tf / (tf + k1 * (1 - b + b * length / mean)) for one query's mean, by count - 1 and length code.
class Saturation {
 public:
  static constexpr std::size_t kCodes = 256;
  /// Scores of smaller counts come from a table, larger ones are computed: few rows contain a term more often.
  static constexpr std::size_t kTabledCounts = 4;

  Saturation(const Bm25Options& options, float mean_length)
      : constant_(options.k1 * (1 - options.b)), slope_(options.k1 * options.b / mean_length) {
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = compute(i / kCodes, static_cast<LengthCode>(i % kCodes));
  }

  float operator()(std::size_t count, LengthCode code) const {
    return count < kTabledCounts ? table_[count * kCodes + code] : compute(count, code);
  }
  std::span<const float> table() const { return table_; }

 private:
  float compute(std::size_t count, LengthCode code) const {
    const auto times = static_cast<float>(count + 1);
    return times / (times + constant_ + slope_ * static_cast<float>(length_of(code)));
  }

  float constant_;
  float slope_;
  std::array<float, kTabledCounts * kCodes> table_;
};

/// The score contribution of one term.
class TermScore {
 public:
  /// `weight` in units.
  TermScore(const Saturation& saturation, float weight) : saturation_(&saturation), weight_(weight) {}

  /// At least one unit, so that 0 means "contains no term".
  Units operator()(std::size_t count, LengthCode length) const { return units_of((*saturation_)(count, length)); }

  /// An upper bound for all rows with at most that count and at least that length. One unit above the formula, for rounding.
  Units bound(std::size_t count_max, LengthCode length_min) const { return 1 + (*this)(count_max, length_min); }

  /// For frequent terms: caches operator() for counts below Saturation::kTabledCounts, at count * kCodes + length.
  void make_table() {
    table_.resize(saturation_->table().size());
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = units_of(saturation_->table()[i]);
  }
  /// Null before make_table().
  const Units* table() const { return table_.empty() ? nullptr : table_.data(); }

 private:
  Units units_of(float saturation) const { return 1 + static_cast<Units>(weight_ * saturation); }

  const Saturation* saturation_;
  float weight_;
  std::vector<Units> table_;
};

}  // namespace footnote::bm25
