#include "engine/nn/grapheme.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

namespace footnote::nn {
namespace {

struct Change {
  char32_t first;
  char32_t last;
  BreakClass now;
};

// Changes between Unicode 15.0 (ICU 72) and Unicode 17.
constexpr std::array kChanges = {
    Change{0x897, 0x897, BreakClass::kExtend},      Change{0x1ACF, 0x1ADD, BreakClass::kExtend},
    Change{0x1AE0, 0x1AEB, BreakClass::kExtend},    Change{0x10D69, 0x10D6D, BreakClass::kExtend},
    Change{0x10EFA, 0x10EFC, BreakClass::kExtend},  Change{0x113B8, 0x113C0, BreakClass::kExtend},
    Change{0x113C2, 0x113C2, BreakClass::kExtend},  Change{0x113C5, 0x113C5, BreakClass::kExtend},
    Change{0x113C7, 0x113CA, BreakClass::kExtend},  Change{0x113CC, 0x113D0, BreakClass::kExtend},
    Change{0x113D1, 0x113D1, BreakClass::kPrepend}, Change{0x113D2, 0x113D2, BreakClass::kExtend},
    Change{0x113E1, 0x113E2, BreakClass::kExtend},  Change{0x11A3A, 0x11A3A, BreakClass::kOther},
    Change{0x11B60, 0x11B67, BreakClass::kExtend},  Change{0x11F5A, 0x11F5A, BreakClass::kExtend},
    Change{0x1611E, 0x1612F, BreakClass::kExtend},  Change{0x1E5EE, 0x1E5EF, BreakClass::kExtend},
    Change{0x1E6E3, 0x1E6E3, BreakClass::kExtend},  Change{0x1E6E6, 0x1E6E6, BreakClass::kExtend},
    Change{0x1E6EE, 0x1E6EF, BreakClass::kExtend},  Change{0x1E6F5, 0x1E6F5, BreakClass::kExtend},
};

bool is_hangul_l_follower(BreakClass next) {
  return next == BreakClass::kHangulL || next == BreakClass::kHangulV || next == BreakClass::kHangulLv || next == BreakClass::kHangulLvt;
}

}  // namespace

BreakClass break_class(char32_t code_point) {
  const auto change = std::ranges::lower_bound(kChanges, code_point, {}, &Change::last);
  if (change != kChanges.end() && change->first <= code_point) return change->now;
  const auto c = static_cast<UChar32>(code_point);
  switch (u_getIntPropertyValue(c, UCHAR_GRAPHEME_CLUSTER_BREAK)) {
    case U_GCB_CONTROL: return BreakClass::kControl;
    case U_GCB_CR: return BreakClass::kCarriageReturn;
    case U_GCB_LF: return BreakClass::kLineFeed;
    case U_GCB_EXTEND: return BreakClass::kExtend;
    case U_GCB_ZWJ: return BreakClass::kJoiner;
    case U_GCB_SPACING_MARK: return BreakClass::kSpacingMark;
    case U_GCB_PREPEND: return BreakClass::kPrepend;
    case U_GCB_REGIONAL_INDICATOR: return BreakClass::kRegional;
    case U_GCB_L: return BreakClass::kHangulL;
    case U_GCB_V: return BreakClass::kHangulV;
    case U_GCB_T: return BreakClass::kHangulT;
    case U_GCB_LV: return BreakClass::kHangulLv;
    case U_GCB_LVT: return BreakClass::kHangulLvt;
    default: return u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC) ? BreakClass::kPictographic : BreakClass::kOther;
  }
}

bool ClusterBreaker::is_joined(BreakClass next) const {
  if (last_ == BreakClass::kCarriageReturn) return next == BreakClass::kLineFeed;
  if (last_ == BreakClass::kControl || last_ == BreakClass::kLineFeed) return false;
  if (next == BreakClass::kControl || next == BreakClass::kCarriageReturn || next == BreakClass::kLineFeed) return false;
  if (next == BreakClass::kExtend || next == BreakClass::kJoiner || next == BreakClass::kSpacingMark) return true;
  if (last_ == BreakClass::kPrepend) return true;
  if (last_ == BreakClass::kHangulL) return is_hangul_l_follower(next);
  if (last_ == BreakClass::kHangulLv || last_ == BreakClass::kHangulV) return next == BreakClass::kHangulV || next == BreakClass::kHangulT;
  if (last_ == BreakClass::kHangulLvt || last_ == BreakClass::kHangulT) return next == BreakClass::kHangulT;
  if (next == BreakClass::kPictographic) return joins_pictograph_;
  if (next == BreakClass::kRegional) return odd_regional_;
  return false;
}

void ClusterBreaker::take(BreakClass next) {
  joins_pictograph_ = after_pictograph_ && next == BreakClass::kJoiner;
  after_pictograph_ = next == BreakClass::kPictographic || (after_pictograph_ && next == BreakClass::kExtend);
  odd_regional_ = next == BreakClass::kRegional && !odd_regional_;
  last_ = next;
}

}  // namespace footnote::nn
