#pragma once

#include <cstdint>

namespace footnote::nn {

/// Grapheme cluster break property (Unicode Standard Annex 29).
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

/// According to Unicode 17, the version of the reference.
BreakClass break_class(char32_t code_point);

/// Finds the end of a grapheme cluster, one code point at a time. Implements extended clusters except for Indic conjuncts (rule GB9c): that
/// rule only makes clusters that are too long for the character map.
class ClusterBreaker {
 public:
  explicit ClusterBreaker(BreakClass first) { take(first); }

  /// True when a code point of this class belongs to the current cluster, which then includes it.
  bool joins(BreakClass next) {
    if (!is_joined(next)) return false;
    take(next);
    return true;
  }

 private:
  bool is_joined(BreakClass next) const;
  void take(BreakClass next);

  BreakClass last_ = BreakClass::kOther;
  bool after_pictograph_ = false;  // Seen a pictograph, then only marks.
  bool joins_pictograph_ = false;  // Seen a pictograph, marks, and then a joiner.
  bool odd_regional_ = false;
};

}  // namespace footnote::nn
