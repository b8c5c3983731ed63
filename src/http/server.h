#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "base/result.h"
#include "http/forwarded.h"
#include "http/message.h"
#include "http/router.h"

namespace footnote::http {

/// Requests on one connection before it is closed, so that no client holds one forever.
inline constexpr std::size_t kRequestsPerConnectionMax = 10'000;

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< An IP address, or "localhost".
  std::uint16_t port = 0;          ///< 0: any free one; see Server::port.
  unsigned io_threads = 1;
  bool io_uring = true;  ///< For long relayed answers, where the kernel grants it; else epoll.
  /// Handlers that work at once. Threads are started as they are first needed. A stream holds one for its whole life, unless its route is
  /// of Lane::kWaitingWorker.
  unsigned workers = 256;
  /// Requests to routes of Lane::kWaitingWorker, from the queue to their end; past it 503 with Retry-After, before any work.
  std::size_t waiting_max = 2'048;
  /// Requests that wait for a worker. Past this number, or when those before would take longer than queue_wait_max, a
  /// request is refused at once; and when it has waited that long after all. 503, with a Retry-After from the rate at
  /// which requests got a worker lately.
  std::size_t queue_max = 1024;
  std::chrono::milliseconds queue_wait_max{5'000};
  std::size_t header_bytes_max = 16 << 10;            ///< Request line and fields; past it 431.
  std::chrono::milliseconds header_deadline{10'000};  ///< From the first byte (or the connect) to the last header; 408.
  std::chrono::milliseconds body_deadline{30'000};    ///< From the last header to the last body byte; 408.
  std::chrono::milliseconds write_deadline{30'000};   ///< For each slice of an answer: slow readers are cut off.
  std::chrono::milliseconds idle_deadline{75'000};    ///< Between two requests; then closed without a word.
  /// Past it the connection that is idle for the longest is closed for the new one. Where none is idle: 503 and close.
  std::size_t connections_max = 16'384;
  /// Of one address (IPv6: of one /64); past it 429 and close. 0: no bound. Behind a reverse proxy all clients have one
  /// address, so it is off.
  std::size_t connections_per_peer_max = 0;
  /// Reverse proxies whose X-Forwarded-For says whose request it is.
  std::vector<AddressRange> trusted_proxies = {};
  /// Bodies that are in memory, of all requests together; past it 503.
  std::size_t body_bytes_total_max = 512 << 20;
  std::chrono::milliseconds sse_keep_alive{15'000};    ///< A comment goes out on a stream this long silent.
  std::chrono::milliseconds handler_stop_max{20'000};  ///< What a stopped handler may take to return; see ~Server.
  /// Renders the server's own refusals; its status is replaced by the exact one (404, 405, 408, 413, 431, 501, 503 ...).
  /// Empty: {"error":{"code":...,"message":...}}. Thread-safe; must not throw.
  std::function<Response(const Error&)> render_error;
  /// Sees every request before routing, without its body, on the I/O thread: must not wait. An answer ends the
  /// request. May be empty.
  std::function<std::optional<Response>(const Request&)> guard;
  /// Has the last word on the headers of every answer (plain, stream head, refusal) before it is written, on the
  /// I/O thread: must not wait. For CORS and security headers. May be empty.
  std::function<void(const Request&, Headers&)> decorate;
};

/// HTTP/1.1 server: keep-alive, pipelining, chunked bodies, 100-continue, server-sent events. Every answer carries
/// x-request-id. A handler's context is stopped within 100 ms of its client's going. Stop callbacks run on the I/O
/// thread and must not wait.
///
/// Metrics: footnote_http_requests_total{route,method,code}, footnote_http_request_duration_seconds{route},
/// footnote_http_connections_open, footnote_http_handlers_running, footnote_http_handlers_waiting, footnote_sse_open_streams,
/// footnote_http_queue_depth, footnote_http_queue_rejected_total, footnote_http_queue_expired_total,
/// footnote_http_connections_given_up_total, footnote_http_connections_refused_total.
class Server {
 public:
  /// Listens and serves from its own threads when it returns. kInvalidArgument: a bad route or option.
  /// kUnavailable: the address can't be bound; the message names it. `metrics` must outlive the server.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, std::vector<Route> routes, Metrics& metrics);

  /// Stops as drain(0) does, and waits until every handler has returned. A handler uses what its server's owner is about
  /// to free, so one that is still running handler_stop_max later ends the process: its route is named on standard error,
  /// then abort.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

  /// Stops accepting, closes idle connections, lets what runs finish for `grace`, then stops the rest and closes.
  /// Blocks until all is closed, but no longer than grace + kDrainStopMax. Later calls only shorten the grace.
  void drain(std::chrono::milliseconds grace);
  static constexpr std::chrono::milliseconds kDrainStopMax{5'000};

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace footnote::http
