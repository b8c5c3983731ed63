#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/nn/kernels.h"

#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 takes the deliberately undefined operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

// All headers come before this: what they define must not use the level's instructions.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")
#endif

#include "engine/nn/kernels_impl.h"

namespace footnote::nn {
namespace {

struct Avx512 {
  using Float = __m512;
  using Int = std::int32_t __attribute__((vector_size(64)));
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kTileRows = 12;

  static Float load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Float value) { _mm512_storeu_ps(to, value); }
  static Float broadcast(float value) { return _mm512_set1_ps(value); }
  static Float multiply_add(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Int bits(Float value) { return reinterpret_cast<Int>(value); }
  static Float floats(Int value) { return reinterpret_cast<Float>(value); }
  static Float maximum(Float a, Float b) { return _mm512_max_ps(a, b); }
  static Float minimum(Float a, Float b) { return _mm512_min_ps(a, b); }
  static float sum(Float v) { return _mm512_reduce_add_ps(v); }
  static float largest(Float v) { return _mm512_reduce_max_ps(v); }
};

}  // namespace

const Kernels* avx512_kernels() { return table_of<Avx512>(); }

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
