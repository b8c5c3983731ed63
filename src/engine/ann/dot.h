#pragma once

#include <cstddef>

#include "engine/cpu/cpu_level.h"

namespace footnote::ann {

/// Kernels take rows padded with zeros to a multiple of this many floats.
inline constexpr std::size_t kDotPadding = 16;

/// Writes the dot products of `query` with `count` rows that lie `stride` floats apart. A row's result depends on its
/// own numbers alone, never on its neighbours; levels differ by rounding only.
/// REQUIRES: stride is a multiple of kDotPadding; `query` holds `stride` floats; both are zero in the padding.
using DotKernel = void (*)(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out);

/// REQUIRES: the level is usable here.
DotKernel dot_kernel(cpu::CpuLevel level);

}  // namespace footnote::ann
