#include "engine/cpu/cpu_level.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace footnote::cpu {
namespace {

constexpr CpuLevel kAll[] = {CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx2Int8, CpuLevel::kAvx512, CpuLevel::kVnni, CpuLevel::kAmx};

TEST(CpuLevel, NamesGoBothWays) {
  for (const CpuLevel level : kAll) EXPECT_EQ(parse_cpu_level(to_string(level)), level);
  EXPECT_EQ(parse_cpu_level("AVX2").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(parse_cpu_level("").error().code, ErrorCode::kInvalidArgument);
}

TEST(CpuLevel, EveryMachineHasThePortableLevel) {
  const auto usable = usable_cpu_levels();
  ASSERT_FALSE(usable.empty());
  EXPECT_EQ(usable.front(), CpuLevel::kPortable);
  EXPECT_TRUE(std::ranges::is_sorted(usable));
  EXPECT_EQ(best_cpu_level(), usable.back());
  for (const CpuLevel level : kAll) {
    const bool has = std::ranges::find(usable, level) != usable.end();
    EXPECT_EQ(require_cpu_level(level).has_value(), has);
    if (!has) {
      EXPECT_EQ(require_cpu_level(level).error().code, ErrorCode::kFailedPrecondition);
    }
  }
}

/// The self-tests must pass where CPUID reports the instructions: a mistake in one would hide a whole level.
TEST(CpuLevel, WhatTheProcessorHasIsFound) {
#if defined(__x86_64__)
  const auto usable = usable_cpu_levels();
  const auto has = [&](CpuLevel level) { return std::ranges::find(usable, level) != usable.end(); };
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(has(CpuLevel::kAvx2), avx2);
  EXPECT_EQ(has(CpuLevel::kAvx2Int8), avx2);
  EXPECT_EQ(has(CpuLevel::kAvx512), avx2 && avx512);
  EXPECT_EQ(has(CpuLevel::kVnni), avx2 && avx512 && __builtin_cpu_supports("avx512vnni"));
#endif
}

TEST(CpuLevel, AnIllegalInstructionFailsTheSelfTestOnly) {
  EXPECT_FALSE(passes_guarded([] {
    raise(SIGILL);
    return true;
  }));
#if defined(__x86_64__)
  EXPECT_FALSE(passes_guarded([] {
    asm volatile("ud2");
    return true;
  }));
#endif
  EXPECT_TRUE(passes_guarded([] { return true; }));
  EXPECT_FALSE(passes_guarded([] { return false; }));
}

TEST(CpuLevel, TheGuardLeavesTheSignalActionAsItWas) {
  struct sigaction before{};
  struct sigaction after{};
  sigaction(SIGILL, nullptr, &before);
  passes_guarded([] {
    raise(SIGILL);
    return true;
  });
  sigaction(SIGILL, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(CpuLevel, ThreadsThatAskAtOnceGetOneAnswer) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] { EXPECT_EQ(usable_cpu_levels().data(), usable_cpu_levels().data()); });
  }
}

}  // namespace
}  // namespace footnote::cpu
