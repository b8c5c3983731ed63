#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace footnote {

/// A value that only increases. Thread-safe.
class Counter {
 public:
  void add(std::uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// A value that goes up and down. Thread-safe.
class Gauge {
 public:
  void add(std::int64_t by) { value_.fetch_add(by, std::memory_order_relaxed); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// Increments a Gauge for a scope: open connections, running calls.
class GaugeHold {
 public:
  explicit GaugeHold(Gauge& gauge) : gauge_(&gauge) { gauge_->add(1); }
  ~GaugeHold() { gauge_->add(-1); }
  GaugeHold(const GaugeHold&) = delete;
  GaugeHold& operator=(const GaugeHold&) = delete;

 private:
  Gauge* gauge_;
};

/// A histogram of durations in seconds, with fixed buckets from 0.5 ms to 60 s. Thread-safe.
class Histogram {
 public:
  static constexpr double kBounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  static constexpr std::size_t kBucketCount = std::size(kBounds) + 1;

  void observe(double seconds);
  std::uint64_t bucket(std::size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> buckets_[kBucketCount]{};
  std::atomic<double> sum_{0};
};

/// All metrics of the process, rendered as Prometheus text. Instruments live as long as the registry, so callers keep references. The same
/// name and labels return the same instrument. Thread-safe. A family holds at most kSeriesMax series; beyond that, new label values share
/// one series labelled "other".
class Metrics {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  static constexpr std::size_t kSeriesMax = 512;

  Counter& counter(std::string_view name, std::string_view help, Labels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, Labels labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, Labels labels = {});

  /// Prometheus text format (text/plain; version=0.0.4).
  std::string render() const;

 private:
  template <class Instrument>
  struct Family {
    std::string help;
    std::map<std::string, std::unique_ptr<Instrument>> series;  // Keyed by rendered labels.
  };
  template <class Instrument>
  static Instrument& find(std::map<std::string, Family<Instrument>, std::less<>>& families, std::string_view name, std::string_view help,
                          const Labels& labels);

  mutable Mutex mutex_;
  std::map<std::string, Family<Counter>, std::less<>> counters_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::string, Family<Gauge>, std::less<>> gauges_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::map<std::string, Family<Histogram>, std::less<>> histograms_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote
