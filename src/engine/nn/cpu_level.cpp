#include "engine/nn/cpu_level.h"

#include <csetjmp>
#include <csignal>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/mutex.h"
#include "engine/nn/kernels.h"

namespace footnote::nn {
namespace {

constexpr std::array kLevels{CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512};

bool cpuid_has(CpuLevel level) {
#if defined(__x86_64__)
  switch (level) {
    case CpuLevel::kPortable: return true;
    case CpuLevel::kAvx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case CpuLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  }
  return false;
#else
  return level == CpuLevel::kPortable;
#endif
}

// Where the thread under test goes on after an illegal instruction; null on every other thread.
thread_local sigjmp_buf* illegal_instruction_return = nullptr;

void on_illegal_instruction(int signal_number) {
  if (illegal_instruction_return != nullptr) siglongjmp(*illegal_instruction_return, 1);
  // Not ours: the default action, when the instruction runs again.
  std::signal(signal_number, SIG_DFL);
}

// A multiplication with a bias and GELU over 13 rows: whole tiles and a rest. Plain arrays only, as a jump out of it
// runs no destructor.
bool numbers_are_right(const Kernels& kernels) {
  constexpr std::size_t kRows = 13;
  constexpr std::size_t kDepth = 5;
  constexpr std::size_t kColumns = 32;
  alignas(64) float left[kRows * kDepth];
  alignas(64) float packed[kDepth * kColumns];
  alignas(64) float bias[kColumns];
  alignas(64) float out[kRows * kColumns];
  for (std::size_t i = 0; i < kRows * kDepth; ++i) left[i] = static_cast<float>(i % 7) * 0.25F - 0.5F;
  for (std::size_t i = 0; i < kColumns; ++i) bias[i] = static_cast<float>(i) * 0.03F - 0.4F;
  const auto right = [](std::size_t k, std::size_t column) { return static_cast<float>((k * 11 + column * 3) % 13) * 0.125F - 0.7F; };
  const std::size_t panel = kernels.panel_columns;
  for (std::size_t column = 0; column < kColumns; ++column) {
    for (std::size_t k = 0; k < kDepth; ++k) packed[(column / panel * kDepth + k) * panel + column % panel] = right(k, column);
  }
  kernels.multiply({.left = left,
                    .left_stride = kDepth,
                    .panels = packed,
                    .bias = bias,
                    .out = out,
                    .out_stride = kColumns,
                    .rows = kRows,
                    .columns = kColumns,
                    .depth = kDepth,
                    .activation = Activation::kGelu});
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      double sum = bias[column];
      for (std::size_t k = 0; k < kDepth; ++k) sum += static_cast<double>(left[row * kDepth + k]) * right(k, column);
      const double expected = 0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0)));
      if (!(std::abs(out[row * kColumns + column] - expected) < 1e-5)) return false;
    }
  }
  return true;
}

bool passes_self_test(CpuLevel level) {
  const Kernels* kernels = kernels_of(level);
  return kernels != nullptr && passes_guarded(numbers_are_right, *kernels);
}

}  // namespace

bool passes_guarded(bool (*test)(const Kernels&), const Kernels& kernels) {
  static Mutex one_at_a_time;  // The signal action belongs to the whole process.
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
    passed = test(kernels);
  }
  illegal_instruction_return = nullptr;
  sigaction(SIGILL, &previous, nullptr);
  return passed;
}

std::string_view to_string(CpuLevel level) {
  switch (level) {
    case CpuLevel::kPortable: return "portable";
    case CpuLevel::kAvx2: return "avx2";
    case CpuLevel::kAvx512: return "avx512";
  }
  return "unknown";
}

Result<CpuLevel> parse_cpu_level(std::string_view word) {
  for (const CpuLevel level : kLevels) {
    if (to_string(level) == word) return level;
  }
  return fail(ErrorCode::kInvalidArgument, "'{}' is no kernel level; say portable, avx2 or avx512", word);
}

std::vector<CpuLevel> usable_cpu_levels() {
  std::vector<CpuLevel> out;
  for (const CpuLevel level : kLevels) {
    if (cpuid_has(level) && passes_self_test(level)) out.push_back(level);
  }
  return out;
}

CpuLevel best_cpu_level() {
  const std::vector<CpuLevel> usable = usable_cpu_levels();
  return usable.empty() ? CpuLevel::kPortable : usable.back();
}

Result<void> require_cpu_level(CpuLevel level) {
  const std::vector<CpuLevel> usable = usable_cpu_levels();
  if (std::find(usable.begin(), usable.end(), level) != usable.end()) return {};
  return fail(ErrorCode::kFailedPrecondition, "this machine can't run the kernel level '{}'; the best it has is '{}'", to_string(level),
              to_string(best_cpu_level()));
}

}  // namespace footnote::nn
