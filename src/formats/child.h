#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::formats {

/// Resource limits of a program.
struct ChildLimits {
  std::size_t memory_bytes = 512u << 20;  ///< Address space.
  std::chrono::seconds processor{10};
  std::chrono::seconds wall{60};
  std::size_t output_bytes = 64u << 20;
};

struct ChildOutcome {
  enum class End {
    kExited,
    kKilled,   ///< Killed by a signal: it crashed, or exceeded its CPU time.
    kTooSlow,  ///< Exceeded the limit on wall-clock time.
    kTooMuch,  ///< Wrote more output than allowed.
  };
  End end = End::kExited;
  int exit_code = 0;
  std::string output;
  std::string errors;  ///< The first few KiB of its standard error.
};

/// Runs a program on these bytes, which it can open and seek as /dev/stdin, and waits for it. The program reads files but writes none,
/// opens no socket, gains no privileges, runs with a lower priority, and ends with this process. Blocks the calling thread. Thread-safe.
/// kFailedPrecondition: there is no such program on the PATH. kResourceExhausted: no process or memory for it.
Result<ChildOutcome> run_child(const std::vector<std::string>& arguments, std::string_view input, const ChildLimits& limits);

}  // namespace footnote::formats
