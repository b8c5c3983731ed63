#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace footnote::cpu {

/// The instruction sets that kernels are written for, slowest first, and with them the numbers that an encoder multiplies:
/// fp32 up to kAvx2 and at kAvx512, 8-bit integers at kAvx2Int8 and kVnni, bf16 at kAmx. Each level gives its own
/// bytes; within one level results never differ.
/// kAvx2, kAvx2Int8: AVX2 and FMA. kAvx512: those and AVX-512 F, DQ, BW and VL. kVnni: that and AVX512-VNNI.
/// kAmx: that and AVX512-BF16 and tiles of bf16. Every level has all of those before it.
enum class CpuLevel { kPortable, kAvx2, kAvx2Int8, kAvx512, kVnni, kAmx };

/// "portable", "avx2", "avx2-int8", "avx512", "vnni", "amx".
std::string_view to_string(CpuLevel level);

/// kInvalidArgument for any other word.
Result<CpuLevel> parse_cpu_level(std::string_view word);

/// The levels that work on this machine, slowest first: some instructions of each set, guarded against an illegal one,
/// give the right numbers. CPUID is not enough: hypervisors have been seen to lie both ways. Found out once a process;
/// the first call sets and restores the process's SIGILL action and asks the system for the use of tiles.
std::span<const CpuLevel> usable_cpu_levels();

/// The strongest usable level.
CpuLevel best_cpu_level();

/// kFailedPrecondition when the machine lacks it.
Result<void> require_cpu_level(CpuLevel level);

/// The guard of the self-test: what `test` says, or false when it meets an illegal instruction. `test` must own nothing
/// that needs a destructor. Calls are serialised.
bool passes_guarded(bool (*test)());

}  // namespace footnote::cpu
