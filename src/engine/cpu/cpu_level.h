#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace footnote::cpu {

/// The instruction sets that kernels are written for, slowest first, and the arithmetic that an encoder uses on them: fp32 at kPortable,
/// kAvx2 and kAvx512, 8-bit integers at kAvx2Int8 and kVnni, bf16 at kAmx. Results are reproducible within a level, but differ between
/// levels.
/// kAvx2, kAvx2Int8: AVX2 and FMA. kAvx512: also AVX-512 F, DQ, BW and VL. kVnni: also AVX512-VNNI. kAmx: also AVX512-BF16 and bf16 tiles.
/// Every level includes all levels before it.
enum class CpuLevel { kPortable, kAvx2, kAvx2Int8, kAvx512, kVnni, kAmx };

/// "portable", "avx2", "avx2-int8", "avx512", "vnni", "amx".
std::string_view to_string(CpuLevel level);

/// kInvalidArgument for any other word.
Result<CpuLevel> parse_cpu_level(std::string_view word);

/// The levels that work on this machine, slowest first. Each is tested by running some of its instructions and checking the results,
/// because hypervisors have reported CPUID wrongly in both directions. Tested once per process; the first call temporarily replaces the
/// SIGILL handler and asks the kernel for permission to use tiles.
std::span<const CpuLevel> usable_cpu_levels();

/// The fastest usable level.
CpuLevel best_cpu_level();

/// kFailedPrecondition when the machine lacks the level.
Result<void> require_cpu_level(CpuLevel level);

/// Runs a self-test: its result, or false when it executes an illegal instruction. `test` must not own anything that needs a destructor.
/// Calls are serialised.
bool passes_guarded(bool (*test)());

}  // namespace footnote::cpu
