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

/// Scores are whole numbers of units while they are summed: then the sum does not depend on the order of its parts, and a
/// search that leaves parts out until they are needed gives the same numbers as one that does not.
using Units = std::int32_t;

/// About the units of a whole query: a float holds twice as many exactly.
inline constexpr double kQueryUnits = 1 << 23;

/// tf / (tf + k1 * (1 - b + b * length / mean)) for one query's mean, by count less one and length code.
class Saturation {
 public:
  static constexpr std::size_t kCodes = 256;
  /// Counts up to this one are looked up, greater ones computed: few rows hold a term more often.
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

/// What one term adds to the rows that hold it.
class TermScore {
 public:
  /// `weight` in units.
  TermScore(const Saturation& saturation, float weight) : saturation_(&saturation), weight_(weight) {}

  /// At least one unit, so that 0 means that no term is there.
  Units operator()(std::size_t count, LengthCode length) const { return units_of((*saturation_)(count, length)); }

  /// No row of count and length within these gets more. One unit more than the formula's, for its roundings.
  Units bound(std::size_t count_max, LengthCode length_min) const { return 1 + (*this)(count_max, length_min); }

  /// For a term of many rows: what operator() says of counts below Saturation::kTabledCounts, by count * kCodes + length.
  void make_table() {
    table_.resize(saturation_->table().size());
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = units_of(saturation_->table()[i]);
  }
  /// Null unless make_table() made one.
  const Units* table() const { return table_.empty() ? nullptr : table_.data(); }

 private:
  Units units_of(float saturation) const { return 1 + static_cast<Units>(weight_ * saturation); }

  const Saturation* saturation_;
  float weight_;
  std::vector<Units> table_;
};

}  // namespace footnote::bm25
