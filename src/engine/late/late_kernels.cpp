#include "engine/late/late_kernels.h"

#include <algorithm>
#include <limits>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 takes the deliberately undefined operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace footnote::late {
namespace {

#if defined(__x86_64__)

/// Sums of products of a bit and two 8-bit numbers are within 16 bits for this many steps: 2 x 127 x 128 < 2^15.
constexpr std::size_t kShortSteps = 128;

std::int32_t four_bytes(const std::uint8_t* bytes) {
  std::int32_t out = 0;
  std::memcpy(&out, bytes, sizeof(out));
  return out;
}

#endif

}  // namespace

void best_sums_portable(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs, std::size_t count,
                        std::int32_t best[kLanes]) {
  std::fill_n(best, kLanes, std::numeric_limits<std::int32_t>::min());
  std::uint8_t bits[kDimensionMax];
  for (std::size_t t = 0; t < count; ++t) {
    expand_bits(signs + t * (dimension / 8), dimension, bits);
    std::int32_t sums[kLanes] = {};
    for (std::size_t s = 0; s < dimension / kStep; ++s) {
      const std::int8_t* numbers = lanes + s * kLanes * kStep;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (std::size_t k = 0; k < kStep; ++k) sums[lane] += numbers[lane * kStep + k] * bits[s * kStep + k];
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) best[lane] = std::max(best[lane], sums[lane]);
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) void best_sums_avx2(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs,
                                                    std::size_t count, std::int32_t best[kLanes]) {
  alignas(64) std::uint8_t bits[kDimensionMax];
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i best_low = _mm256_set1_epi32(std::numeric_limits<std::int32_t>::min());
  __m256i best_high = best_low;
  const std::size_t steps = dimension / kStep;
  for (std::size_t t = 0; t < count; ++t) {
    expand_bits(signs + t * (dimension / 8), dimension, bits);
    __m256i low = _mm256_setzero_si256();
    __m256i high = low;
    for (std::size_t begin = 0; begin < steps; begin += kShortSteps) {
      const std::size_t end = std::min(steps, begin + kShortSteps);
      __m256i short_low = _mm256_setzero_si256();
      __m256i short_high = short_low;
      for (std::size_t s = begin; s < end; ++s) {
        const __m256i token = _mm256_set1_epi32(four_bytes(bits + s * kStep));
        const auto* numbers = reinterpret_cast<const __m256i*>(lanes + s * kLanes * kStep);
        short_low = _mm256_add_epi16(short_low, _mm256_maddubs_epi16(token, _mm256_loadu_si256(numbers)));
        short_high = _mm256_add_epi16(short_high, _mm256_maddubs_epi16(token, _mm256_loadu_si256(numbers + 1)));
      }
      low = _mm256_add_epi32(low, _mm256_madd_epi16(short_low, ones));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(short_high, ones));
    }
    best_low = _mm256_max_epi32(best_low, low);
    best_high = _mm256_max_epi32(best_high, high);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(best), best_low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(best + 8), best_high);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void best_sums_avx512(const std::int8_t* lanes, std::size_t dimension,
                                                                                    const std::byte* signs, std::size_t count,
                                                                                    std::int32_t best[kLanes]) {
  alignas(64) std::uint8_t bits[kDimensionMax];
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i most = _mm512_set1_epi32(std::numeric_limits<std::int32_t>::min());
  const std::size_t steps = dimension / kStep;
  for (std::size_t t = 0; t < count; ++t) {
    expand_bits(signs + t * (dimension / 8), dimension, bits);
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t begin = 0; begin < steps; begin += kShortSteps) {
      const std::size_t end = std::min(steps, begin + kShortSteps);
      __m512i short_sum = _mm512_setzero_si512();
      for (std::size_t s = begin; s < end; ++s) {
        const __m512i token = _mm512_set1_epi32(four_bytes(bits + s * kStep));
        short_sum = _mm512_add_epi16(short_sum, _mm512_maddubs_epi16(token, _mm512_loadu_si512(lanes + s * kLanes * kStep)));
      }
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(short_sum, ones));
    }
    most = _mm512_max_epi32(most, sum);
  }
  _mm512_storeu_si512(best, most);
}

// Eight tokens at a time: the question's numbers are loaded once for all of them.
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"))) void best_sums_vnni(const std::int8_t* lanes,
                                                                                             std::size_t dimension, const std::byte* signs,
                                                                                             std::size_t count, std::int32_t best[kLanes]) {
  constexpr std::size_t kTokens = 8;
  alignas(64) std::uint8_t bits[kTokens][kDimensionMax];
  __m512i most = _mm512_set1_epi32(std::numeric_limits<std::int32_t>::min());
  const std::size_t steps = dimension / kStep;
  const std::size_t bytes = dimension / 8;
  for (std::size_t t = 0; t < count; t += kTokens) {
    // The last ones come twice: that does not change what is largest.
    for (std::size_t k = 0; k < kTokens; ++k) expand_bits(signs + std::min(t + k, count - 1) * bytes, dimension, bits[k]);
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (std::size_t s = 0; s < steps; ++s) {
      const __m512i numbers = _mm512_loadu_si512(lanes + s * kLanes * kStep);
      const std::size_t at = s * kStep;
      a = _mm512_dpbusd_epi32(a, _mm512_set1_epi32(four_bytes(bits[0] + at)), numbers);
      b = _mm512_dpbusd_epi32(b, _mm512_set1_epi32(four_bytes(bits[1] + at)), numbers);
      c = _mm512_dpbusd_epi32(c, _mm512_set1_epi32(four_bytes(bits[2] + at)), numbers);
      d = _mm512_dpbusd_epi32(d, _mm512_set1_epi32(four_bytes(bits[3] + at)), numbers);
      e = _mm512_dpbusd_epi32(e, _mm512_set1_epi32(four_bytes(bits[4] + at)), numbers);
      f = _mm512_dpbusd_epi32(f, _mm512_set1_epi32(four_bytes(bits[5] + at)), numbers);
      g = _mm512_dpbusd_epi32(g, _mm512_set1_epi32(four_bytes(bits[6] + at)), numbers);
      h = _mm512_dpbusd_epi32(h, _mm512_set1_epi32(four_bytes(bits[7] + at)), numbers);
    }
    const __m512i first = _mm512_max_epi32(_mm512_max_epi32(a, b), _mm512_max_epi32(c, d));
    const __m512i second = _mm512_max_epi32(_mm512_max_epi32(e, f), _mm512_max_epi32(g, h));
    most = _mm512_max_epi32(most, _mm512_max_epi32(first, second));
  }
  _mm512_storeu_si512(best, most);
}

#else

void best_sums_avx2(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs, std::size_t count, std::int32_t best[kLanes]) {
  best_sums_portable(lanes, dimension, signs, count, best);
}
void best_sums_avx512(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs, std::size_t count,
                      std::int32_t best[kLanes]) {
  best_sums_portable(lanes, dimension, signs, count, best);
}
void best_sums_vnni(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs, std::size_t count, std::int32_t best[kLanes]) {
  best_sums_portable(lanes, dimension, signs, count, best);
}

#endif

}  // namespace footnote::late
