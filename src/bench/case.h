#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace footnote::bench {

/// Something that is done once for each query, and how long that takes.
struct BenchCase {
  std::string name;  ///< "vectors.all.10"
  std::size_t rows = 0;
  std::size_t queries = 0;  ///< At least one.
  std::function<Result<void>(std::size_t query)> run;
  /// What is told beside the times; asked for after each measurement. Null: nothing.
  std::function<Result<JsonObject>()> more = {};
};

struct BenchFigures {
  std::size_t runs = 0;
  double p50_us = 0;
  double p99_us = 0;
  double mean_us = 0;
  double cpu_us = 0;  ///< Mean of the time on the processor: steadier than the others where the machine has more to do.
  JsonObject more;
};

/// The value that `share` of these lie at or below. REQUIRES: not empty, in order.
double percentile(const std::vector<double>& sorted, double share);

/// Runs the queries in turn for about so many seconds, kBenchRunsMin at least, after kBenchWarmUp that don't count.
inline constexpr std::size_t kBenchRunsMin = 50;
inline constexpr std::size_t kBenchWarmUp = 10;
Result<BenchFigures> measure(const BenchCase& bench, double seconds);

}  // namespace footnote::bench
