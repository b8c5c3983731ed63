#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace footnote::ingest {

/// Estimates how long the rest of some work takes, from amounts that cost about the same each (bytes, tokens; never files). The speed is
/// that of the whole work so far, in which the last minute counts most: a single large document does not make the estimate swing.
/// Not thread-safe.
class TimeToGo {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Before this long there is no estimate.
  static constexpr std::chrono::milliseconds kWarmUp{1'500};
  static constexpr std::chrono::seconds kMemory{60};

  explicit TimeToGo(Time start) : start_(start), last_(start) {}

  /// `done` of `total` are done at `now`. Nullopt: not known yet. Never negative.
  std::optional<std::chrono::seconds> update(std::int64_t done, std::int64_t total, Time now);

 private:
  const Time start_;
  Time last_;
  std::int64_t last_done_ = 0;
  double amount_ = 0;   ///< Done, with what is older counting less.
  double seconds_ = 0;  ///< The time it took, weighted alike.
};

}  // namespace footnote::ingest
