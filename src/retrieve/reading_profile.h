#pragma once

#include "domain/profile.h"

namespace footnote::retrieve {

/// How an entry point searches if a model reads the passages itself (see for_reading()). The weights are those that the reader was measured
/// with: the same question gets the same answer at every entry point.
constexpr Profile reading_profile(Profile profile) {
  profile = for_reading(profile);
  profile.weights = {};
  return profile;
}

}  // namespace footnote::retrieve
