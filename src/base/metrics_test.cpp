#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace footnote {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, RendersPrometheusText) {
  Metrics metrics;
  metrics.counter("requests_total", "Requests.", {{"route", "/a"}, {"status", "200"}}).add(3);
  metrics.gauge("open", "Open streams.").set(-2);
  EXPECT_EQ(metrics.render(),
            "# HELP requests_total Requests.\n"
            "# TYPE requests_total counter\n"
            "requests_total{route=\"/a\",status=\"200\"} 3\n"
            "# HELP open Open streams.\n"
            "# TYPE open gauge\n"
            "open -2\n");
}

TEST(Metrics, HistogramBucketsAreCumulative) {
  Metrics metrics;
  Histogram& histogram = metrics.histogram("took_seconds", "Time.", {{"stage", "embed"}});
  histogram.observe(0.0005);  // A bound belongs to its own bucket.
  histogram.observe(0.3);
  histogram.observe(1000);
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("took_seconds_bucket{stage=\"embed\",le=\"0.0005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("took_seconds_bucket{stage=\"embed\",le=\"0.25\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("took_seconds_bucket{stage=\"embed\",le=\"0.5\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("took_seconds_bucket{stage=\"embed\",le=\"60\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("took_seconds_bucket{stage=\"embed\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("took_seconds_sum{stage=\"embed\"} 1000.3005\n"));
  EXPECT_THAT(text, HasSubstr("took_seconds_count{stage=\"embed\"} 3\n"));
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameInstrument) {
  Metrics metrics;
  EXPECT_EQ(&metrics.counter("a", "x", {{"k", "1"}}), &metrics.counter("a", "x", {{"k", "1"}}));
  EXPECT_NE(&metrics.counter("a", "x", {{"k", "1"}}), &metrics.counter("a", "x", {{"k", "2"}}));
}

TEST(Metrics, LabelValuesCantBreakALine) {
  Metrics metrics;
  metrics.counter("a", "x", {{"path", "q\"\\\n"}}).add();
  EXPECT_THAT(metrics.render(), HasSubstr(R"(a{path="q\"\\\n"} 1)"
                                          "\n"));
}

TEST(Metrics, AFamilyHasABoundedNumberOfSeries) {
  Metrics metrics;
  for (std::size_t i = 0; i < Metrics::kSeriesMax + 100; ++i) metrics.counter("a", "x", {{"k", std::to_string(i)}}).add();
  EXPECT_THAT(metrics.render(), HasSubstr("a{k=\"other\"} 100\n"));
  EXPECT_THAT(metrics.render(), Not(HasSubstr("a{k=\"600\"}")));
}

TEST(Metrics, CountsFromSeveralThreads) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 1000; ++n) metrics.counter("a", "x").add();
      });
    }
  }
  EXPECT_EQ(metrics.counter("a", "x").value(), 4000u);
}

TEST(Metrics, GaugeHoldLetsGoAtTheEndOfItsScope) {
  Gauge gauge;
  {
    const GaugeHold hold(gauge);
    EXPECT_EQ(gauge.value(), 1);
  }
  EXPECT_EQ(gauge.value(), 0);
}

}  // namespace
}  // namespace footnote
