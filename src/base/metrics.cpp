#include "base/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace footnote {

namespace {

std::string render_labels(const Metrics::Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ",";
    out += name + "=\"";
    for (char c : value) {
      if (c == '\\' || c == '"') out.push_back('\\');
      if (c == '\n') {
        out += "\\n";
      } else {
        out.push_back(c);
      }
    }
    out += "\"";
  }
  return out;
}

std::string braced(std::string_view labels) { return labels.empty() ? std::string() : fmt::format("{{{}}}", labels); }

void render_series(std::string& out, std::string_view name, std::string_view labels, const Counter& counter) {
  out += fmt::format("{}{} {}\n", name, braced(labels), counter.value());
}

void render_series(std::string& out, std::string_view name, std::string_view labels, const Gauge& gauge) {
  out += fmt::format("{}{} {}\n", name, braced(labels), gauge.value());
}

void render_series(std::string& out, std::string_view name, std::string_view labels, const Histogram& histogram) {
  const std::string prefix = labels.empty() ? std::string() : fmt::format("{},", labels);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < Histogram::kBucketCount; ++i) {
    total += histogram.bucket(i);
    const std::string bound = i + 1 < Histogram::kBucketCount ? fmt::format("{}", Histogram::kBounds[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, prefix, bound, total);
  }
  out += fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, braced(labels), histogram.sum(), name, braced(labels), total);
}

template <class Families>
void render_families(std::string& out, std::string_view type, const Families& families) {
  for (const auto& [name, family] : families) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, type);
    for (const auto& [labels, instrument] : family.series) render_series(out, name, labels, *instrument);
  }
}

}  // namespace

void Histogram::observe(double seconds) {
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  buckets_[static_cast<std::size_t>(bound - std::begin(kBounds))].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(seconds, std::memory_order_relaxed);
}

template <class Instrument>
Instrument& Metrics::find(std::map<std::string, Family<Instrument>, std::less<>>& families, std::string_view name, std::string_view help,
                          const Labels& labels) {
  auto family = families.find(name);
  if (family == families.end()) family = families.emplace(std::string(name), Family<Instrument>{std::string(help), {}}).first;
  auto& series = family->second.series;
  std::string key = render_labels(labels);
  if (!series.contains(key) && series.size() >= kSeriesMax) {
    Labels other = labels;
    for (auto& [label, value] : other) value = "other";
    key = render_labels(other);
  }
  std::unique_ptr<Instrument>& instrument = series[key];
  if (!instrument) instrument = std::make_unique<Instrument>();
  return *instrument;
}

Counter& Metrics::counter(std::string_view name, std::string_view help, Labels labels) {
  MutexLock lock(mutex_);
  return find(counters_, name, help, labels);
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, Labels labels) {
  MutexLock lock(mutex_);
  return find(gauges_, name, help, labels);
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, Labels labels) {
  MutexLock lock(mutex_);
  return find(histograms_, name, help, labels);
}

std::string Metrics::render() const {
  MutexLock lock(mutex_);
  std::string out;
  render_families(out, "counter", counters_);
  render_families(out, "gauge", gauges_);
  render_families(out, "histogram", histograms_);
  return out;
}

}  // namespace footnote
