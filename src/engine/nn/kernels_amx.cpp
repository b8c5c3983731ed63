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
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16,avx2,fma")
#endif

#include "engine/nn/kernels_bf16.h"
#include "engine/nn/vector_avx512.h"

namespace footnote::nn {
namespace {

struct Bf16Vector : Avx512 {
  static void store_bf16(std::byte* to, Float low, Float high) {
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
};

// The only palette of these CPUs; querying it fails where a hypervisor hides it.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfig kTileConfig{};

// In assembly: the intrinsics of g++ 12 are macros over the digits of a tile number, which a template parameter is not.
struct AmxTiles {
  static void begin() { _tile_loadconfig(&kTileConfig); }
  static void end() { _tile_release(); }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  static void load(const std::byte* from, std::size_t stride) {
    asm volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(kTile), "r"(from), "r"(stride) : "memory");
  }
  template <int kTile>
  static void store(float* to, std::size_t stride) {
    asm volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(kTile), "r"(to), "r"(stride) : "memory");
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kLeft), "i"(kRight));
  }
};

}  // namespace

const Kernels* amx_kernels() { return bf16_kernels<Bf16Vector, AmxTiles>(); }

}  // namespace footnote::nn

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace footnote::nn {
const Kernels* amx_kernels() { return nullptr; }
}  // namespace footnote::nn

#endif
