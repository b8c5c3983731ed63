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

/// Requests served on one connection before it is closed, so that no client holds it forever.
inline constexpr std::size_t kRequestsPerConnectionMax = 10'000;

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< An IP address, or "localhost".
  std::uint16_t port = 0;          ///< 0: any free port; see Server::port.
  unsigned io_threads = 1;
  bool io_uring = true;  ///< Use io_uring for long relayed responses if available; else epoll.
  /// Handlers that run concurrently. Threads start on demand. A stream occupies one until it ends, unless its route uses
  /// Lane::kWaitingWorker.
  unsigned workers = 256;
  /// Queued and running requests of Lane::kWaitingWorker routes; beyond it 503 with Retry-After, before any work.
  std::size_t waiting_max = 2'048;
  /// Requests that may wait for a worker. A request is refused with 503 if the queue is full, if its estimated wait exceeds queue_wait_max,
  /// or if it has actually waited that long. Retry-After is derived from the recent rate at which requests got a worker.
  std::size_t queue_max = 1024;
  std::chrono::milliseconds queue_wait_max{5'000};
  std::size_t header_bytes_max = 16 << 10;            ///< Request line and fields; beyond it 431.
  std::chrono::milliseconds header_deadline{10'000};  ///< From the first byte (or connect) to the last header; 408.
  std::chrono::milliseconds body_deadline{30'000};    ///< From the last header to the last body byte; 408.
  std::chrono::milliseconds write_deadline{30'000};   ///< For each slice of a response; slower readers are disconnected.
  std::chrono::milliseconds idle_deadline{75'000};    ///< Between two requests; then closed silently.
  /// Beyond it the longest-idle connection is closed for the new one. If none is idle: 503 and close.
  std::size_t connections_max = 16'384;
  /// Per address (IPv6: per /64); beyond it 429 and close. 0: no limit. Off by default, because behind a reverse proxy all clients share
  /// one address.
  std::size_t connections_per_peer_max = 0;
  /// Reverse proxies whose X-Forwarded-For is trusted.
  std::vector<AddressRange> trusted_proxies = {};
  /// Request bodies in memory, for all requests together; beyond it 503.
  std::size_t body_bytes_total_max = 512 << 20;
  std::chrono::milliseconds sse_keep_alive{15'000};    ///< A comment is sent on a stream that is silent this long.
  std::chrono::milliseconds handler_stop_max{20'000};  ///< Time a stopped handler has to return; see ~Server.
  /// Renders the server's own errors; its status is replaced by the exact one (404, 405, 408, 413, 431, 501, 503 ...). Empty:
  /// {"error":{"code":...,"message":...}}. Thread-safe; must not throw.
  std::function<Response(const Error&)> render_error;
  /// Called for every request before routing, without its body, on the I/O thread: must not block. Returning a response ends the request.
  /// May be empty.
  std::function<std::optional<Response>(const Request&)> guard;
  /// Edits the headers of every response (plain, stream head, error) just before it is written, on the I/O thread: must not block. For CORS
  /// and security headers. May be empty.
  std::function<void(const Request&, Headers&)> decorate;
};

/// HTTP/1.1 server: keep-alive, pipelining, chunked bodies, 100-continue, server-sent events. Every response carries x-request-id. A
/// handler's context is stopped within 100 ms after its client disconnects. Stop callbacks run on the I/O thread and must not block.
///
/// Metrics: footnote_http_requests_total{route,method,code}, footnote_http_request_duration_seconds{route}, footnote_http_connections_open,
/// footnote_http_handlers_running, footnote_http_handlers_waiting, footnote_sse_open_streams, footnote_http_queue_depth,
/// footnote_http_queue_rejected_total, footnote_http_queue_expired_total, footnote_http_connections_given_up_total,
/// footnote_http_connections_refused_total.
class Server {
 public:
  /// On return the server is listening and serving on its own threads. kInvalidArgument: bad route or option. kUnavailable: the address
  /// can't be bound; the message names it. `metrics` must outlive the server.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, std::vector<Route> routes, Metrics& metrics);

  /// Stops like drain(0) and waits until every handler has returned. Handlers use objects that the server's owner is about to free, so a
  /// handler still running after handler_stop_max aborts the process, with its route named on standard error.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

  /// Stops accepting, closes idle connections, lets running requests finish for `grace`, then stops the rest and closes. Blocks until all
  /// is closed, at most grace + kDrainStopMax. Later calls can only shorten the grace.
  void drain(std::chrono::milliseconds grace);
  static constexpr std::chrono::milliseconds kDrainStopMax{5'000};

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace footnote::http
