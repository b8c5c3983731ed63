#include "engine/ann/dot.h"

#include <array>

#include "base/assert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace footnote::ann {
namespace {

// Rows are read one after the other, each into several running sums: that hides the latency of the multiply-add and
// keeps a single stream for the hardware prefetcher. (Four rows side by side took two to three times as long.)

// g++ 12's own reduction intrinsic for 512 bits does not pass its own warnings, hence an array.
inline float sum_of(std::array<float, kDotPadding>& sums) {
  for (std::size_t half = kDotPadding / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

void dot_portable(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    std::array<float, kDotPadding> sums{};
    for (std::size_t i = 0; i < stride; i += kDotPadding) {
      for (std::size_t lane = 0; lane < kDotPadding; ++lane) sums[lane] += query[i + lane] * row[i + lane];
    }
    out[r] = sum_of(sums);
  }
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) void dot_avx2(const float* query, const float* rows, std::size_t stride, std::size_t count,
                                                  float* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    __m256 sum0 = _mm256_setzero_ps(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    std::size_t i = 0;
    for (; i + 32 <= stride; i += 32) {
      sum0 = _mm256_fmadd_ps(_mm256_loadu_ps(query + i), _mm256_loadu_ps(row + i), sum0);
      sum1 = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 8), _mm256_loadu_ps(row + i + 8), sum1);
      sum2 = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 16), _mm256_loadu_ps(row + i + 16), sum2);
      sum3 = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 24), _mm256_loadu_ps(row + i + 24), sum3);
    }
    if (i < stride) {
      sum0 = _mm256_fmadd_ps(_mm256_loadu_ps(query + i), _mm256_loadu_ps(row + i), sum0);
      sum1 = _mm256_fmadd_ps(_mm256_loadu_ps(query + i + 8), _mm256_loadu_ps(row + i + 8), sum1);
    }
    alignas(64) std::array<float, kDotPadding> sums;
    _mm256_store_ps(sums.data(), _mm256_add_ps(sum0, sum2));
    _mm256_store_ps(sums.data() + 8, _mm256_add_ps(sum1, sum3));
    out[r] = sum_of(sums);
  }
}

__attribute__((target("avx512f"))) void dot_avx512(const float* query, const float* rows, std::size_t stride, std::size_t count,
                                                   float* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    __m512 sum0 = _mm512_setzero_ps(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    std::size_t i = 0;
    for (; i + 64 <= stride; i += 64) {
      sum0 = _mm512_fmadd_ps(_mm512_loadu_ps(query + i), _mm512_loadu_ps(row + i), sum0);
      sum1 = _mm512_fmadd_ps(_mm512_loadu_ps(query + i + 16), _mm512_loadu_ps(row + i + 16), sum1);
      sum2 = _mm512_fmadd_ps(_mm512_loadu_ps(query + i + 32), _mm512_loadu_ps(row + i + 32), sum2);
      sum3 = _mm512_fmadd_ps(_mm512_loadu_ps(query + i + 48), _mm512_loadu_ps(row + i + 48), sum3);
    }
    for (; i < stride; i += 16) sum0 = _mm512_fmadd_ps(_mm512_loadu_ps(query + i), _mm512_loadu_ps(row + i), sum0);
    alignas(64) std::array<float, kDotPadding> sums;
    _mm512_store_ps(sums.data(), _mm512_add_ps(_mm512_add_ps(sum0, sum1), _mm512_add_ps(sum2, sum3)));
    out[r] = sum_of(sums);
  }
}

#endif

}  // namespace

DotKernel dot_kernel(cpu::CpuLevel level) {
  FOOTNOTE_ASSERT(level <= cpu::best_cpu_level());
  switch (level) {
    case cpu::CpuLevel::kPortable: return dot_portable;
#if defined(__x86_64__)
    case cpu::CpuLevel::kAvx2:
    case cpu::CpuLevel::kAvx2Int8: return dot_avx2;
    case cpu::CpuLevel::kAvx512:
    case cpu::CpuLevel::kVnni:
    case cpu::CpuLevel::kAmx: return dot_avx512;
#else
    case cpu::CpuLevel::kAvx2:
    case cpu::CpuLevel::kAvx2Int8:
    case cpu::CpuLevel::kAvx512:
    case cpu::CpuLevel::kVnni:
    case cpu::CpuLevel::kAmx: break;
#endif
  }
  return dot_portable;
}

}  // namespace footnote::ann
