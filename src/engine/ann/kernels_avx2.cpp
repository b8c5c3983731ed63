#include "engine/ann/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

// All headers are included before this: their code must not use this level's instructions.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace footnote::ann {
namespace {

// Rows are read one after the other, each into several accumulators: this hides the latency of the multiply-add and keeps a single stream
// for the hardware prefetcher. (Four interleaved rows took two to three times as long.)

struct Product {
  static __m256 add(__m256 a, __m256 b, __m256 sum) { return _mm256_fmadd_ps(a, b, sum); }
};
struct Square {
  static __m256 add(__m256 a, __m256 b, __m256 sum) {
    const __m256 d = _mm256_sub_ps(a, b);
    return _mm256_fmadd_ps(d, d, sum);
  }
};
struct Magnitude {
  static __m256 add(__m256 a, __m256 b, __m256 sum) {
    return _mm256_add_ps(sum, _mm256_andnot_ps(_mm256_set1_ps(-0.0F), _mm256_sub_ps(a, b)));
  }
};

float total(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

template <class Term>
void sum_terms(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    __m256 sum0 = _mm256_setzero_ps(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    std::size_t i = 0;
    for (; i + 32 <= stride; i += 32) {
      sum0 = Term::add(_mm256_loadu_ps(query + i), _mm256_loadu_ps(row + i), sum0);
      sum1 = Term::add(_mm256_loadu_ps(query + i + 8), _mm256_loadu_ps(row + i + 8), sum1);
      sum2 = Term::add(_mm256_loadu_ps(query + i + 16), _mm256_loadu_ps(row + i + 16), sum2);
      sum3 = Term::add(_mm256_loadu_ps(query + i + 24), _mm256_loadu_ps(row + i + 24), sum3);
    }
    if (i < stride) {
      sum0 = Term::add(_mm256_loadu_ps(query + i), _mm256_loadu_ps(row + i), sum0);
      sum1 = Term::add(_mm256_loadu_ps(query + i + 8), _mm256_loadu_ps(row + i + 8), sum1);
    }
    out[r] = total(_mm256_add_ps(_mm256_add_ps(sum0, sum2), _mm256_add_ps(sum1, sum3)));
  }
}

__m256i words_at(const std::int8_t* codes) { return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes))); }

void dot_codes(const std::int8_t* query, const std::int8_t* rows, std::size_t stride, std::size_t count, std::int32_t* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const std::int8_t* row = rows + r * stride;
    __m256i sum0 = _mm256_setzero_si256(), sum1 = sum0;
    for (std::size_t i = 0; i < stride; i += 32) {
      sum0 = _mm256_add_epi32(sum0, _mm256_madd_epi16(words_at(query + i), words_at(row + i)));
      sum1 = _mm256_add_epi32(sum1, _mm256_madd_epi16(words_at(query + i + 16), words_at(row + i + 16)));
    }
    const __m256i both = _mm256_add_epi32(sum0, sum1);
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    out[r] = _mm_cvtsi128_si32(four);
  }
}

__m256i entries_of(const std::uint8_t* tables, __m256i bytes) {
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tables)));
  const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tables + 16)));
  return _mm256_add_epi8(_mm256_shuffle_epi8(low, _mm256_and_si256(bytes, nibble)),
                         _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble)));
}

void sign_sums(const std::uint8_t* tables, const std::uint8_t* blocks, std::size_t row_bytes, std::size_t count, std::uint16_t* out) {
  const __m256i low_byte = _mm256_set1_epi16(0xFF);
  for (std::size_t b = 0; b < count; ++b, blocks += row_bytes * kSignBlockRows, out += kSignBlockRows) {
    __m256i even = _mm256_setzero_si256(), odd = even;
    for (std::size_t p = 0; p < row_bytes; p += 2) {
      // Add four entries in a byte before widening.
      const auto* bytes = reinterpret_cast<const __m256i*>(blocks + p * kSignBlockRows);
      const __m256i four = _mm256_add_epi8(entries_of(tables + p * 32, _mm256_loadu_si256(bytes)),
                                           entries_of(tables + p * 32 + 32, _mm256_loadu_si256(bytes + 1)));
      even = _mm256_add_epi16(even, _mm256_and_si256(four, low_byte));
      odd = _mm256_add_epi16(odd, _mm256_srli_epi16(four, 8));
    }
    const __m256i first = _mm256_unpacklo_epi16(even, odd), second = _mm256_unpackhi_epi16(even, odd);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute2x128_si256(first, second, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + 1, _mm256_permute2x128_si256(first, second, 0x31));
  }
}

std::uint32_t reaching(const std::uint16_t* sums, const float* norms, const SignLine& line, float least) {
  const __m256 slope = _mm256_set1_ps(line.slope), offset = _mm256_set1_ps(line.offset), bend = _mm256_set1_ps(line.bend);
  std::uint32_t bits = 0;
  for (std::size_t r = 0; r < kSignBlockRows; r += 8) {
    const __m256 sum = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sums + r))));
    const __m256 norm = _mm256_loadu_ps(norms + r);
    const __m256 estimate = _mm256_mul_ps(norm, _mm256_fmadd_ps(slope, sum, _mm256_fmadd_ps(bend, norm, offset)));
    const __m256 reaches = _mm256_cmp_ps(estimate, _mm256_set1_ps(least), _CMP_GE_OQ);
    bits |= static_cast<std::uint32_t>(_mm256_movemask_ps(reaches)) << r;
  }
  return bits;
}

constexpr Kernels kKernels{sum_terms<Product>, sum_terms<Square>, sum_terms<Magnitude>, dot_codes, sign_sums, reaching};

}  // namespace

const Kernels* avx2_kernels() { return &kKernels; }

}  // namespace footnote::ann

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::ann {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace footnote::ann

#endif
