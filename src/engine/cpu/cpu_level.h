#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace footnote::cpu {

/// The instruction sets that kernels are written for, weakest first. Each level gives its own bytes; within one level
/// results never differ. kAvx2: AVX2 and FMA. kAvx512: those and AVX-512 F, DQ, BW and VL.
enum class CpuLevel { kPortable, kAvx2, kAvx512 };

/// "portable", "avx2", "avx512".
std::string_view to_string(CpuLevel level);

/// kInvalidArgument for any other word.
Result<CpuLevel> parse_cpu_level(std::string_view word);

/// The levels that work on this machine, weakest first: CPUID says so and some instructions of each set, guarded against
/// an illegal one, give the right numbers. (Hypervisors have been seen to lie both ways.) Found out once a process;
/// the first call sets and restores the process's SIGILL action.
std::span<const CpuLevel> usable_cpu_levels();

/// The strongest usable level.
CpuLevel best_cpu_level();

/// kFailedPrecondition when the machine lacks it.
Result<void> require_cpu_level(CpuLevel level);

/// The guard of the self-test: what `test` says, or false when it meets an illegal instruction. `test` must own nothing
/// that needs a destructor. Calls are serialised.
bool passes_guarded(bool (*test)());

}  // namespace footnote::cpu
