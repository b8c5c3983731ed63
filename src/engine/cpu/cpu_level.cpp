#include "engine/cpu/cpu_level.h"

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <algorithm>
#include <array>
#include <vector>

#include "base/mutex.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 warns about the deliberately undefined operands in its own intrinsics.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace footnote::cpu {
namespace {

constexpr std::array kLevels{CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx2Int8, CpuLevel::kAvx512, CpuLevel::kVnni, CpuLevel::kAmx};

// Where the thread under test resumes after an illegal instruction; null on all other threads.
thread_local sigjmp_buf* illegal_instruction_return = nullptr;

void on_illegal_instruction(int signal_number) {
  if (illegal_instruction_return != nullptr) siglongjmp(*illegal_instruction_return, 1);
  // Not from a self-test: take the default action when the instruction runs again.
  std::signal(signal_number, SIG_DFL);
}

#if defined(__x86_64__)

/// Values that the compiler can't compute in advance; otherwise it would remove the instructions under test.
template <class Number, std::size_t kCount>
struct Operands {
  alignas(64) Number values[kCount];
  Operands(int factor, int offset) {
    volatile int step = factor;
    for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<Number>(static_cast<int>(i) * step + offset);
  }
};

__attribute__((target("avx2,fma"))) bool avx2_numbers_are_right() {
  const Operands<float, 8> a(2, 1), b(-3, 5);
  const Operands<std::int32_t, 8> whole(7, -4);
  alignas(64) float product[8];
  alignas(64) std::int32_t sum[8];
  const __m256 left = _mm256_load_ps(a.values);
  _mm256_store_ps(product, _mm256_fmadd_ps(left, _mm256_load_ps(b.values), left));
  const __m256i integers = _mm256_load_si256(reinterpret_cast<const __m256i*>(whole.values));
  _mm256_store_si256(reinterpret_cast<__m256i*>(sum), _mm256_add_epi32(integers, integers));
  for (std::size_t i = 0; i < 8; ++i) {
    if (product[i] != a.values[i] * b.values[i] + a.values[i] || sum[i] != 2 * whole.values[i]) return false;
  }
  return true;
}

/// At least one instruction of each set: F (multiply-add), DQ (bitwise on floats), BW (bytes), VL (a mask on 256 bits).
__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))) bool avx512_numbers_are_right() {
  const Operands<float, 16> a(2, 1), b(-3, 5);
  const Operands<std::int8_t, 64> bytes(1, -30);
  alignas(64) float product[16];
  alignas(64) float magnitude[16];
  alignas(64) std::int8_t sum[64];
  alignas(64) float masked[8];
  const __m512 left = _mm512_load_ps(a.values), right = _mm512_load_ps(b.values);
  _mm512_store_ps(product, _mm512_fmadd_ps(left, right, left));
  _mm512_store_ps(magnitude, _mm512_andnot_ps(_mm512_set1_ps(-0.0F), right));
  const __m512i small = _mm512_loadu_si512(bytes.values);
  _mm512_storeu_si512(sum, _mm512_add_epi8(small, small));
  const __m256 half = _mm256_load_ps(a.values);
  _mm256_store_ps(masked, _mm256_maskz_add_ps(0x55, half, half));
  for (std::size_t i = 0; i < 16; ++i) {
    if (product[i] != a.values[i] * b.values[i] + a.values[i]) return false;
    if (magnitude[i] != (b.values[i] < 0 ? -b.values[i] : b.values[i])) return false;
  }
  for (std::size_t i = 0; i < 64; ++i) {
    if (sum[i] != 2 * bytes.values[i]) return false;
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (masked[i] != (i % 2 == 0 ? 2 * a.values[i] : 0.0F)) return false;
  }
  return true;
}

/// Dot products of four bytes and of two 16-bit words, accumulated.
__attribute__((target("avx512f,avx512bw,avx512vnni"))) bool vnni_numbers_are_right() {
  const Operands<std::uint8_t, 64> unsigned_bytes(3, 7);
  const Operands<std::int8_t, 64> signed_bytes(-1, 20);
  const Operands<std::int16_t, 32> words(-111, 900);
  alignas(64) std::int32_t of_bytes[16];
  alignas(64) std::int32_t of_words[16];
  const __m512i ones = _mm512_set1_epi32(1);
  const __m512i word_values = _mm512_load_si512(words.values);
  _mm512_store_si512(of_bytes, _mm512_dpbusd_epi32(ones, _mm512_load_si512(unsigned_bytes.values), _mm512_load_si512(signed_bytes.values)));
  _mm512_store_si512(of_words, _mm512_dpwssd_epi32(ones, word_values, word_values));
  for (std::size_t i = 0; i < 16; ++i) {
    std::int32_t bytes = 1;
    std::int32_t squares = 1;
    for (std::size_t k = 4 * i; k < 4 * i + 4; ++k) bytes += unsigned_bytes.values[k] * signed_bytes.values[k];
    for (std::size_t k = 2 * i; k < 2 * i + 2; ++k) squares += words.values[k] * words.values[k];
    if (of_bytes[i] != bytes || of_words[i] != squares) return false;
  }
  return true;
}

/// Linux grants tile registers on request only, and refuses on CPUs without them.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// Tests a product of tiles and the rounding of floats to bf16. The palette is hard-coded, not read from CPUID: all these CPUs have the
/// same one, and some hypervisors leave its leaf empty.
__attribute__((target("avx512f,avx512bf16,amx-tile,amx-bf16"))) bool amx_numbers_are_right() {
  struct alignas(64) {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16};
  } config;
  alignas(64) std::uint16_t left[16 * 32];
  alignas(64) std::uint16_t right[16 * 32];
  alignas(64) float product[16 * 16];
  volatile int step = 1;
  // Small integers, which are exact in bf16, and so are their sums.
  const auto bf16 = [](int whole) {
    const auto number = static_cast<float>(whole);
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    return static_cast<std::uint16_t>(bits >> 16);
  };
  for (int i = 0; i < 16 * 32; ++i) {
    left[i] = bf16(i * step % 7 - 3);
    right[i] = bf16(i * step % 5 - 2);
  }
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_loadd(1, left, 64);
  _tile_loadd(2, right, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, product, 64);
  _tile_release();
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      int expected = 0;
      for (int k = 0; k < 32; ++k) expected += ((row * 32 + k) % 7 - 3) * ((k / 2 * 32 + 2 * column + k % 2) % 5 - 2);
      if (product[row * 16 + column] != static_cast<float>(expected)) return false;
    }
  }
  alignas(64) std::uint16_t rounded[32];
  const __m512 numbers = _mm512_load_ps(product);
  _mm512_store_si512(rounded, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(numbers, numbers)));
  for (int i = 0; i < 16; ++i) {
    if (rounded[i] != bf16(static_cast<int>(product[i])) || rounded[i + 16] != rounded[i]) return false;
  }
  return true;
}

bool works(CpuLevel level) {
  switch (level) {
    case CpuLevel::kPortable: return true;
    case CpuLevel::kAvx2Int8: return works(CpuLevel::kAvx2);
    case CpuLevel::kVnni: return works(CpuLevel::kAvx512) && passes_guarded(vnni_numbers_are_right);
    case CpuLevel::kAmx: return works(CpuLevel::kVnni) && may_use_tiles() && passes_guarded(amx_numbers_are_right);
    case CpuLevel::kAvx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && passes_guarded(avx2_numbers_are_right);
    case CpuLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && works(CpuLevel::kAvx2) && passes_guarded(avx512_numbers_are_right);
  }
  return false;
}

#else

bool works(CpuLevel level) { return level == CpuLevel::kPortable; }

#endif

}  // namespace

bool passes_guarded(bool (*test)()) {
  static Mutex one_at_a_time;  // The signal handler is process-wide.
  const MutexLock lock(one_at_a_time);
  struct sigaction action{};
  struct sigaction previous{};
  action.sa_handler = on_illegal_instruction;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGILL, &action, &previous) != 0) return false;
  sigjmp_buf back;
  volatile bool passed = false;
  if (sigsetjmp(back, 1) == 0) {
    illegal_instruction_return = &back;
    passed = test();
  }
  illegal_instruction_return = nullptr;
  sigaction(SIGILL, &previous, nullptr);
  return passed;
}

std::string_view to_string(CpuLevel level) {
  switch (level) {
    case CpuLevel::kPortable: return "portable";
    case CpuLevel::kAvx2: return "avx2";
    case CpuLevel::kAvx2Int8: return "avx2-int8";
    case CpuLevel::kAvx512: return "avx512";
    case CpuLevel::kVnni: return "vnni";
    case CpuLevel::kAmx: return "amx";
  }
  return "unknown";
}

Result<CpuLevel> parse_cpu_level(std::string_view word) {
  for (const CpuLevel level : kLevels) {
    if (to_string(level) == word) return level;
  }
  return fail(ErrorCode::kInvalidArgument, "unknown CPU level '{}'; use amx, vnni, avx512, avx2-int8, avx2 or portable", word);
}

std::span<const CpuLevel> usable_cpu_levels() {
  static const std::vector<CpuLevel> usable = [] {
    std::vector<CpuLevel> out;
    std::copy_if(kLevels.begin(), kLevels.end(), std::back_inserter(out), works);
    return out;
  }();
  return usable;
}

CpuLevel best_cpu_level() { return usable_cpu_levels().back(); }

Result<void> require_cpu_level(CpuLevel level) {
  const std::span<const CpuLevel> usable = usable_cpu_levels();
  if (std::find(usable.begin(), usable.end(), level) != usable.end()) return {};
  return fail(ErrorCode::kFailedPrecondition, "this machine can't run the level '{}' of CPU instructions; the best it has is '{}'",
              to_string(level), to_string(best_cpu_level()));
}

}  // namespace footnote::cpu
