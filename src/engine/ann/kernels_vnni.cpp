#include "engine/ann/kernels.h"

#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 warns about the deliberately undefined operands in its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

// All headers are included before this: their code must not use this level's instructions.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx512vnni,avx2,fma")
#endif

#include "engine/ann/kernels_wide.h"

namespace footnote::ann {
namespace {

// The instruction needs one unsigned operand: rows are offset by 128, and the surplus is subtracted again.
void dot_codes(const std::int8_t* query, const std::int8_t* rows, std::size_t stride, std::size_t count, std::int32_t* out) {
  const __m512i sign = _mm512_set1_epi8(-128);
  __m512i moved = _mm512_setzero_si512();
  for (std::size_t i = 0; i < stride; i += 64) moved = _mm512_dpbusd_epi32(moved, sign, _mm512_loadu_si512(query + i));
  for (std::size_t r = 0; r < count; ++r) {
    const std::int8_t* row = rows + r * stride;
    __m512i sum0 = _mm512_setzero_si512(), sum1 = sum0;
    std::size_t i = 0;
    for (; i + 128 <= stride; i += 128) {
      sum0 = _mm512_dpbusd_epi32(sum0, _mm512_xor_si512(_mm512_loadu_si512(row + i), sign), _mm512_loadu_si512(query + i));
      sum1 = _mm512_dpbusd_epi32(sum1, _mm512_xor_si512(_mm512_loadu_si512(row + i + 64), sign), _mm512_loadu_si512(query + i + 64));
    }
    if (i < stride) sum0 = _mm512_dpbusd_epi32(sum0, _mm512_xor_si512(_mm512_loadu_si512(row + i), sign), _mm512_loadu_si512(query + i));
    out[r] = total(_mm512_sub_epi32(_mm512_add_epi32(sum0, sum1), moved));
  }
}

constexpr Kernels kKernels{sum_terms<Product>, sum_terms<Square>, sum_terms<Magnitude>, dot_codes, sign_sums, reaching};

}  // namespace

const Kernels* vnni_kernels() { return &kKernels; }

}  // namespace footnote::ann

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::ann {
const Kernels* vnni_kernels() { return nullptr; }
}  // namespace footnote::ann

#endif
