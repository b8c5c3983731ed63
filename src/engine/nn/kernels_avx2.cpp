#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/nn/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

// All headers come before this: what they define must not use the level's instructions.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#include "engine/nn/kernels_impl.h"

namespace footnote::nn {
namespace {

struct Avx2 {
  using Float = __m256;
  using Int = std::int32_t __attribute__((vector_size(32)));
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kTileRows = 6;

  static Float load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Float value) { _mm256_storeu_ps(to, value); }
  static Float broadcast(float value) { return _mm256_set1_ps(value); }
  static Float multiply_add(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Int bits(Float value) { return reinterpret_cast<Int>(value); }
  static Float floats(Int value) { return reinterpret_cast<Float>(value); }
  static Float maximum(Float a, Float b) { return _mm256_max_ps(a, b); }
  static Float minimum(Float a, Float b) { return _mm256_min_ps(a, b); }
  static float sum(Float v) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
  }
  static float largest(Float v) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
  }
};

}  // namespace

const Kernels* avx2_kernels() { return table_of<Avx2>(); }

}  // namespace footnote::nn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::nn {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace footnote::nn

#endif
