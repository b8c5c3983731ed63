#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/nn/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

// All headers are included before this: their code must not use this level's instructions.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#include "engine/nn/kernels_float.h"
#include "engine/nn/kernels_int8.h"
#include "engine/nn/vector_avx2.h"

namespace footnote::nn {

const Kernels* avx2_kernels() { return float_kernels<Avx2>(); }
const Kernels* avx2_int8_kernels() { return int8_kernels<Avx2Int8>(); }

}  // namespace footnote::nn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::nn {
const Kernels* avx2_kernels() { return nullptr; }
const Kernels* avx2_int8_kernels() { return nullptr; }
}  // namespace footnote::nn

#endif
