#pragma once

#include <cstddef>

namespace footnote::ann {

/// Vectors compared per kernel call: their results stay in the first-level cache until they are ranked.
inline constexpr std::size_t kScanBlock = 512;
/// Work shared by two threads is split into this many parts, because the second thread may start late.
inline constexpr std::size_t kParts = 4;

}  // namespace footnote::ann
