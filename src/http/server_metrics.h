#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/metrics.h"
#include "base/mutex.h"

namespace footnote::http {

/// The server's metrics. Thread-safe.
class ServerMetrics {
 public:
  explicit ServerMetrics(Metrics& metrics);

  /// Counts one answered request. `route` is the pattern, or "none" if no route matched.
  void count_request(std::string_view route, std::string_view method, int status, double seconds);

  Gauge& connections_open;
  Gauge& handlers_running;
  Gauge& handlers_waiting;
  Gauge& open_streams;
  Gauge& queue_depth;
  Counter& queue_rejected;
  Counter& queue_expired;
  Counter& connections_given_up;
  Counter& connections_refused;

 private:
  struct Series {
    Counter* count;
    Histogram* duration;
  };

  Metrics& metrics_;
  // The registry renders labels on each lookup, so series are cached: there are few patterns and methods.
  Mutex mutex_;
  std::map<std::tuple<std::string, std::string, int>, Series, std::less<>> series_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::http
