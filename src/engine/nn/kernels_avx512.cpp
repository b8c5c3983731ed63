#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/nn/kernels.h"

#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 warns about the deliberately undefined operands in its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

// All headers are included before this: their code must not use this level's instructions.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")
#endif

#include "engine/nn/kernels_float.h"
#include "engine/nn/vector_avx512.h"

namespace footnote::nn {

const Kernels* avx512_kernels() { return float_kernels<Avx512>(); }

}  // namespace footnote::nn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::nn {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace footnote::nn

#endif
