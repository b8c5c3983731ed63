#include "http/server_metrics.h"

namespace footnote::http {

ServerMetrics::ServerMetrics(Metrics& metrics)
    : connections_open(metrics.gauge("footnote_http_connections_open", "Open client connections")),
      handlers_running(metrics.gauge("footnote_http_handlers_running", "Running handlers")),
      handlers_waiting(metrics.gauge("footnote_http_handlers_waiting", "Handlers that wait and occupy no worker")),
      open_streams(metrics.gauge("footnote_sse_open_streams", "Open event streams")),
      queue_depth(metrics.gauge("footnote_http_queue_depth", "Requests waiting for a worker")),
      queue_rejected(metrics.counter("footnote_http_queue_rejected_total", "Requests refused because the queue was full or too slow")),
      queue_expired(metrics.counter("footnote_http_queue_expired_total", "Requests refused after waiting in the queue for too long")),
      connections_given_up(metrics.counter("footnote_http_connections_given_up_total", "Idle connections closed to make room for others")),
      connections_refused(metrics.counter("footnote_http_connections_refused_total", "Connections refused at a limit")),
      metrics_(metrics) {}

void ServerMetrics::count_request(std::string_view route, std::string_view method, int status, double seconds) {
  Series series{};
  {
    MutexLock lock(mutex_);
    auto found = series_.find(std::tuple(route, method, status));
    if (found == series_.end()) {
      Metrics::Labels labels{{"route", std::string(route)}, {"method", std::string(method)}, {"code", std::to_string(status)}};
      series.count = &metrics_.counter("footnote_http_requests_total", "Requests answered", std::move(labels));
      series.duration = &metrics_.histogram("footnote_http_request_duration_seconds",
                                            "From a request's head to the last byte of its response", {{"route", std::string(route)}});
      found = series_.emplace(std::tuple(std::string(route), std::string(method), status), series).first;
    }
    series = found->second;
  }
  series.count->add();
  series.duration->observe(seconds);
}

}  // namespace footnote::http
