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
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")
#endif

#include "engine/ann/kernels_wide.h"

namespace footnote::ann {
namespace {

__m512i words_at(const std::int8_t* codes) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes))); }

void dot_codes(const std::int8_t* query, const std::int8_t* rows, std::size_t stride, std::size_t count, std::int32_t* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const std::int8_t* row = rows + r * stride;
    __m512i sum0 = _mm512_setzero_si512(), sum1 = sum0;
    for (std::size_t i = 0; i < stride; i += 64) {
      sum0 = _mm512_add_epi32(sum0, _mm512_madd_epi16(words_at(query + i), words_at(row + i)));
      sum1 = _mm512_add_epi32(sum1, _mm512_madd_epi16(words_at(query + i + 32), words_at(row + i + 32)));
    }
    out[r] = total(_mm512_add_epi32(sum0, sum1));
  }
}

constexpr Kernels kKernels{sum_terms<Product>, sum_terms<Square>, sum_terms<Magnitude>, dot_codes, sign_sums, reaching};

}  // namespace

const Kernels* avx512_kernels() { return &kKernels; }

}  // namespace footnote::ann

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::ann {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace footnote::ann

#endif
