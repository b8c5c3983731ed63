#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "http/server.h"
#include "http/test_socket.h"

// For tests of this directory: one-line routes, and a server on a free port.
namespace footnote::http::testing {

inline Route plain(Method method, std::string pattern, Handler handler, Lane lane = Lane::kWorker) {
  Route route;
  route.method = method;
  route.pattern = std::move(pattern);
  route.handler = std::move(handler);
  route.lane = lane;
  return route;
}

inline Route streaming(std::string pattern, StreamHandler handler) {
  Route route;
  route.pattern = std::move(pattern);
  route.handler = std::move(handler);
  return route;
}

/// Returns the request's body.
inline Response echo(const Request& request, const CallContext&) { return Response::text(200, "text/plain", request.body); }

class TestServer {
 public:
  explicit TestServer(std::vector<Route> routes, ServerOptions options = {}) {
    set_log_level(LogLevel::kOff);
    auto started = Server::start(std::move(options), std::move(routes), metrics_);
    EXPECT_TRUE(started) << started.error().message;
    if (started) server_ = *std::move(started);
  }
  Server& operator*() { return *server_; }
  Server* operator->() { return server_.get(); }
  void stop() { server_.reset(); }

  TestSocket connect(int receive_buffer = 0) { return TestSocket::connect(server_->port(), receive_buffer); }
  /// Sends one request on a new connection.
  Answer ask(std::string_view request) {
    TestSocket socket = connect();
    socket.send(request);
    return socket.read_answer().value_or(Answer{});
  }
  std::int64_t gauge(std::string_view name) { return metrics_.gauge(name, "").value(); }
  bool all_quiet() {
    return gauge("footnote_http_connections_open") == 0 && gauge("footnote_http_handlers_running") == 0 &&
           gauge("footnote_sse_open_streams") == 0 && gauge("footnote_http_queue_depth") == 0;
  }
  Metrics& metrics() { return metrics_; }

 private:
  Metrics metrics_;
  std::unique_ptr<Server> server_;
};

inline std::string get(std::string_view path, std::string_view more = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", path, more);
}

inline std::string post(std::string_view path, std::string_view body, std::string_view more = "") {
  return fmt::format("POST {} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n{}\r\n{}", path, body.size(), more, body);
}

}  // namespace footnote::http::testing
