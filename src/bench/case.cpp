#include "bench/case.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>

namespace footnote::bench {

double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

Result<BenchFigures> measure(const BenchCase& bench, double seconds) {
  using Clock = std::chrono::steady_clock;
  for (std::size_t i = 0; i < kBenchWarmUp; ++i) FOOTNOTE_CHECK(bench.run(i % bench.queries));
  std::vector<double> times;
  const std::clock_t used = std::clock();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < kBenchRunsMin || Clock::now() < end) {
    const auto begin = Clock::now();
    FOOTNOTE_CHECK(bench.run(times.size() % bench.queries));
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  const double cpu_us = static_cast<double>(std::clock() - used) * 1e6 / CLOCKS_PER_SEC / static_cast<double>(times.size());
  std::ranges::sort(times);
  BenchFigures out{.runs = times.size(),
                   .p50_us = percentile(times, 0.5),
                   .p99_us = percentile(times, 0.99),
                   .mean_us = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()),
                   .cpu_us = cpu_us,
                   .more = {}};
  if (bench.more) {
    FOOTNOTE_TRY(out.more, bench.more());
  }
  return out;
}

}  // namespace footnote::bench
