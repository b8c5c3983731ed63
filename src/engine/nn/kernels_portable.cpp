#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/nn/kernels.h"
#include "engine/nn/kernels_impl.h"

namespace footnote::nn {
namespace {

// Four lanes by the compiler's own vector types: SSE2 on x86-64, NEON on ARM, plain code elsewhere.
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
  static Int bits(Float value) { return reinterpret_cast<Int>(value); }
  static Float floats(Int value) { return reinterpret_cast<Float>(value); }
  static Float maximum(Float a, Float b) { return a > b ? a : b; }
  static Float minimum(Float a, Float b) { return a < b ? a : b; }
  static float sum(Float v) { return (v[0] + v[2]) + (v[1] + v[3]); }
  static float largest(Float v) {
    const float left = v[0] > v[1] ? v[0] : v[1];
    const float right = v[2] > v[3] ? v[2] : v[3];
    return left > right ? left : right;
  }
};

}  // namespace

const Kernels* portable_kernels() { return table_of<Portable>(); }

const Kernels* kernels_of(cpu::CpuLevel level) {
  switch (level) {
    case cpu::CpuLevel::kPortable: return portable_kernels();
    case cpu::CpuLevel::kAvx2: return avx2_kernels();
    case cpu::CpuLevel::kAvx512: return avx512_kernels();
  }
  return nullptr;
}

}  // namespace footnote::nn
