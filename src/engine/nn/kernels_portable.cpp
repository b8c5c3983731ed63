#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/nn/kernels.h"
// Must follow the headers that it uses.
#include "engine/nn/kernels_float.h"

namespace footnote::nn {
namespace {

// Four lanes by the compiler's vector extension: SSE2 on x86-64, NEON on ARM, scalar code elsewhere.
struct Portable {
  using Float = float __attribute__((vector_size(16)));
  using Int = std::int32_t __attribute__((vector_size(16)));
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kTileRows = 4;

  static Float load(const float* from) {
    Float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  static void store(float* to, Float value) { std::memcpy(to, &value, sizeof(value)); }
  static Float broadcast(float value) { return Float{value, value, value, value}; }
  static Float multiply_add(Float a, Float b, Float c) { return a * b + c; }
  static Float maximum(Float a, Float b) { return a > b ? a : b; }
  static Float minimum(Float a, Float b) { return a < b ? a : b; }
  // Adding 1.5 * 2^23 rounds a small number to an integer.
  static Float round(Float value) {
    const Float shifter = broadcast(12582912.0F);
    return (value + shifter) - shifter;
  }
  static Float times_power_of_two(Float value, Float whole) {
    const Float shifted = whole + broadcast(12582912.0F + 127.0F);
    return value * reinterpret_cast<Float>(reinterpret_cast<Int>(shifted) << 23);
  }
  static float sum(Float v) { return (v[0] + v[2]) + (v[1] + v[3]); }
  static float largest(Float v) {
    const float left = v[0] > v[1] ? v[0] : v[1];
    const float right = v[2] > v[3] ? v[2] : v[3];
    return left > right ? left : right;
  }
  static void transpose(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (std::size_t k = 0; k < kLanes; ++k) out[k * out_stride + i] = in[i * in_stride + k];
    }
  }
};

}  // namespace

const Kernels* portable_kernels() { return float_kernels<Portable>(); }

std::size_t attention_scratch_bytes(std::size_t length_max, std::size_t head_size) {
  // Packed keys and values, and for each row of the tallest tile (and one more) its scores twice.
  constexpr std::size_t kTileRowsMax = 33;
  const std::size_t padded = (length_max + 31) / 32 * 32;
  return padded * (2 * head_size * sizeof(float) + 2 * sizeof(float) + kTileRowsMax * 2 * sizeof(float));
}

const Kernels* kernels_of(cpu::CpuLevel level) {
  switch (level) {
    case cpu::CpuLevel::kPortable: return portable_kernels();
    case cpu::CpuLevel::kAvx2: return avx2_kernels();
    case cpu::CpuLevel::kAvx2Int8: return avx2_int8_kernels();
    case cpu::CpuLevel::kAvx512: return avx512_kernels();
    case cpu::CpuLevel::kVnni: return vnni_kernels();
    case cpu::CpuLevel::kAmx: return amx_kernels();
  }
  return nullptr;
}

}  // namespace footnote::nn
