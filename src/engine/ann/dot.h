#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace footnote::ann {

/// The instruction sets that kernels are written for, weakest first.
enum class SimdLevel { kPortable, kAvx2, kAvx512 };

std::string_view to_string(SimdLevel level);

/// The strongest level that this processor and operating system run.
SimdLevel best_simd_level();

/// The levels that run here, weakest first; for tests.
std::span<const SimdLevel> runnable_simd_levels();

/// Kernels take rows padded with zeros to a multiple of this many floats.
inline constexpr std::size_t kDotPadding = 16;

/// Writes the dot products of `query` with `count` rows that lie `stride` floats apart. A row's result depends on its
/// own numbers alone, never on its neighbours; levels differ by rounding only.
/// REQUIRES: stride is a multiple of kDotPadding; `query` holds `stride` floats; both are zero in the padding.
using DotKernel = void (*)(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out);

/// REQUIRES: level <= best_simd_level().
DotKernel dot_kernel(SimdLevel level);

}  // namespace footnote::ann
