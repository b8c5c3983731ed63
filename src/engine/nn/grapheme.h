#pragma once

#include <cstdint>

namespace footnote::nn {

/// What a code point means to the borders of grapheme clusters (Unicode Standard Annex 29).
enum class BreakClass : std::uint8_t {
  kOther,
  kControl,
  kCarriageReturn,
  kLineFeed,
  kExtend,
  kJoiner,  ///< U+200D
  kSpacingMark,
  kPrepend,
  kRegional,
  kPictographic,
  kHangulL,
  kHangulV,
  kHangulT,
  kHangulLv,
  kHangulLvt,
};

/// As of Unicode 17, the reference's version.
BreakClass break_class(char32_t code_point);

/// Finds where a cluster ends, one code point after the other. Extended clusters but for Indic conjuncts (rule GB9c):
/// those only join clusters that are too long to be looked up whole anyway.
class ClusterBreaker {
 public:
  explicit ClusterBreaker(BreakClass first) { take(first); }

  /// True when a code point of this class belongs to the cluster, of which it is then a part.
  bool joins(BreakClass next) {
    if (!is_joined(next)) return false;
    take(next);
    return true;
  }

 private:
  bool is_joined(BreakClass next) const;
  void take(BreakClass next);

  BreakClass last_ = BreakClass::kOther;
  bool after_pictograph_ = false;  // A pictograph, then only marks.
  bool joins_pictograph_ = false;  // The same, then a joiner.
  bool odd_regional_ = false;
};

}  // namespace footnote::nn
