#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace footnote::bench {

/// An operation to time, run once for each query.
struct BenchCase {
  std::string name;  ///< "vectors.all.10"
  std::size_t rows = 0;
  std::size_t queries = 0;  ///< At least one.
  std::function<Result<void>(std::size_t query)> run;
  /// Additional results, read after each measurement. Null: none.
  std::function<Result<JsonObject>()> more = {};
};

struct BenchFigures {
  std::size_t runs = 0;
  double p50_us = 0;
  double p99_us = 0;
  double mean_us = 0;
  double cpu_us = 0;  ///< Mean CPU time: more stable than wall-clock time on a busy machine.
  JsonObject more;
};

/// The value that `share` of the values do not exceed. REQUIRES: not empty, sorted.
double percentile(const std::vector<double>& sorted, double share);

/// Cycles through the queries for about `seconds`, at least kBenchRunsMin runs, after kBenchWarmUp uncounted ones.
inline constexpr std::size_t kBenchRunsMin = 50;
inline constexpr std::size_t kBenchWarmUp = 10;
Result<BenchFigures> measure(const BenchCase& bench, double seconds);

}  // namespace footnote::bench
