#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/byte_budget.h"
#include "http/connection_table.h"
#include "http/detail_asio.h"
#include "http/exchange.h"
#include "http/http1.h"
#include "http/refusal.h"
#include "http/server.h"
#include "http/server_metrics.h"
#include "http/worker_pool.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

class RelayLoop;
class UpstreamPools;

/// State shared by all connections of a server. Must outlive them.
struct ServerShared {
  ServerShared(ServerOptions server_options, Router server_router, Metrics& registry)
      : options(std::move(server_options)),
        router(std::move(server_router)),
        metrics(registry),
        connections(options.connections_max, options.connections_per_peer_max),
        body_bytes(options.body_bytes_total_max),
        workers({.threads_max = options.workers,
                 .queue_max = options.queue_max,
                 .waits_max = options.waiting_max,
                 .wait_max = options.queue_wait_max},
                metrics.queue_depth, metrics.handlers_waiting) {}

  const ServerOptions options;
  const Router router;
  ServerMetrics metrics;
  ConnectionTable connections;
  ByteBudget body_bytes;
  WorkerPool workers;
  std::atomic<bool> draining{false};
  // Set before the first connection; must live as long as the connections.
  UpstreamPools* upstreams = nullptr;
  RelayLoop* relay_loop = nullptr;
};

/// Sent when an event stream is silent.
inline constexpr std::string_view kKeepAliveComment = ": keep-alive\n\n";
/// Size of one write; the client must accept it within one write deadline.
inline constexpr std::size_t kWriteSliceBytes = 64 << 10;

Response render_refusal(const ServerOptions& options, const Refusal& refusal);

/// One client connection: reads requests and answers them in order, one at a time. Everything runs on the strand of `socket`. Held by its
/// own coroutine and by pending operations, hence shared_ptr.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, ServerShared& shared);

  asio::any_io_executor executor() { return socket_.get_executor(); }
  /// Serves until the connection closes. Call once.
  Task<void> run();
  /// Closes now if idle, otherwise after the current request. On the strand.
  void drain();
  /// Closes this connection because the table evicted it. On the strand.
  void give_up();
  /// Stops the running handler and closes. On the strand.
  void stop();

 private:
  enum class Read { kData, kEnd, kTimeout, kFailed };
  enum class Next { kKeepAlive, kClose };
  /// State of a request before its handler runs.
  struct Arrival {
    explicit Arrival(ByteBudget& budget) : body_bytes(budget) {}

    std::shared_ptr<Request> request = std::make_shared<Request>();  ///< Shared with the handler's exchange.
    std::string_view method = "other";
    std::optional<RouteMatch> match;
    std::optional<Response> early;  ///< The response, if no handler is needed.
    ByteBudget::Hold body_bytes;
    bool expects_continue = false;
    bool keep_alive = false;
    bool http_1_0 = false;
    std::chrono::steady_clock::time_point started;
  };
  using HeadResult = std::expected<void, std::optional<Refusal>>;  // nullopt: close without a response

  Task<Next> serve_one();
  Task<Read> fill(std::size_t bytes);
  Task<HeadResult> read_head(RequestParser& parser);
  Task<bool> await_request();
  Task<HeadResult> read_body(RequestParser& parser, std::uint64_t bytes_max, ByteBudget::Hold& held);
  Task<HeadResult> read_body_into(RequestParser& parser, std::uint64_t bytes_max, BodySink& sink);
  Task<HeadResult> receive_body(RequestParser& parser, Arrival& arrival);
  Refusal over_budget(std::size_t bytes) const;
  Arrival start_arrival() const;
  void accept_head(const RequestParser& parser, Arrival& arrival) const;
  std::optional<Response> route_request(const RequestParser& parser, Arrival& arrival, std::string_view path) const;

  /// Uses the error format of the matched route.
  Response render(const Arrival& arrival, const Refusal& refusal) const;
  Task<Next> answer_early(RequestParser& parser, Arrival arrival);
  Task<Next> answer_inline(Arrival arrival);
  Task<Next> answer_on_worker(Arrival arrival);
  Task<Next> answer_refusal(Arrival arrival, Refusal refusal);
  Task<Next> refuse_busy(Arrival arrival, std::chrono::seconds retry_after);
  enum class Queued { kLeft, kTooLong, kClientGone };
  Task<Queued> wait_in_queue(Exchange& exchange, WorkerPool::Ticket ticket);
  enum class Until { kOutput, kReturned };
  Task<void> wait_for(Exchange& exchange, Until until);
  /// How a started stream is sent.
  struct Outgoing {
    std::string head;
    int status = 200;
    Framing framing = Framing::kChunked;
    bool keep_alive = false;
    bool is_sse = true;
  };
  Outgoing begin_stream(Exchange& exchange, const Arrival& arrival);
  Task<Next> stream_answer(std::shared_ptr<Exchange> exchange, const Arrival& arrival);
  Task<Next> plain_answer(Exchange& exchange, const Arrival& arrival);
  class Splice;
  Task<Next> relayed_answer(std::shared_ptr<Exchange> exchange, const Arrival& arrival, Exchange::Relayed relayed);
  Task<bool> pump(Exchange& exchange, Framing framing, bool is_sse);
  Task<bool> write_response(const Arrival& arrival, Response response);
  Task<bool> write_all(std::string_view bytes);
  bool write_at_once(std::string_view& bytes);
  Task<void> linger();

  void watch_client(std::shared_ptr<Exchange> exchange);
  void check_client();
  void unwatch_client();
  void finish(const Arrival& arrival, int status);
  Headers final_headers(const Arrival& arrival, Headers headers) const;

  Tcp::socket socket_;
  ServerShared& shared_;
  beast::flat_buffer buffer_;  // read but not parsed; keeps the start of pipelined requests
  Watchdog watchdog_;
  asio::steady_timer wake_;
  asio::steady_timer recheck_;
  asio::cancellation_signal watch_cancel_;
  std::shared_ptr<Exchange> watched_;  // exchange of the running handler, while the client is watched
  std::string remote_address_;
  std::size_t requests_ = 0;
  bool idle_ = false;  // between requests, nothing read yet
  bool lent_ = false;  // another thread writes to the socket, so it must not be closed
  bool stopped_ = false;
};

}  // namespace footnote::http
