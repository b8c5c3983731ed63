#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::nn {

/// Which instructions the kernels use. Each level gives its own bytes; within one level results never differ.
enum class CpuLevel { kPortable, kAvx2, kAvx512 };

/// "portable", "avx2", "avx512".
std::string_view to_string(CpuLevel level);

/// kInvalidArgument for any other word.
Result<CpuLevel> parse_cpu_level(std::string_view word);

/// The levels that work on this machine, lowest first: CPUID says so and a small multiplication, guarded against an
/// illegal instruction, gives the right numbers. (Hypervisors have been seen to lie both ways.)
/// Sets and restores the process's SIGILL action; calls are serialised.
std::vector<CpuLevel> usable_cpu_levels();

/// The highest usable level.
CpuLevel best_cpu_level();

/// kFailedPrecondition when the machine lacks it.
Result<void> require_cpu_level(CpuLevel level);

struct Kernels;

/// The guard of the self-test: what `test` says, or false when it meets an illegal instruction. `test` must own nothing
/// that needs a destructor.
bool passes_guarded(bool (*test)(const Kernels&), const Kernels& kernels);

}  // namespace footnote::nn
