#include "http/server.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/contained.h"
#include "base/log.h"
#include "base/text.h"
#include "http/connection.h"
#include "http/idle_connections.h"
#include "http/relay_loop.h"

namespace footnote::http {

namespace {

constexpr std::chrono::milliseconds kAcceptRetry{100};
/// Refused connections whose error response is still being sent.
constexpr std::size_t kTurnedAwayMax = 64;
constexpr std::chrono::milliseconds kTurnAwayTime{500};

Result<void> check_options(const ServerOptions& options) {
  if (options.io_threads == 0 || options.workers == 0 || options.connections_max == 0) {
    return fail(ErrorCode::kInvalidArgument, "io_threads, workers and connections_max must be at least 1");
  }
  if (options.queue_wait_max <= std::chrono::milliseconds{0}) return fail(ErrorCode::kInvalidArgument, "queue_wait_max must be above 0");
  if (options.header_bytes_max < 256 || options.header_bytes_max > (1 << 20)) {
    return fail(ErrorCode::kInvalidArgument, "header_bytes_max must be from 256 bytes to 1 MiB");
  }
  return {};
}

Result<Tcp::endpoint> parse_endpoint(const std::string& host, std::uint16_t port) {
  SystemError error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) return fail(ErrorCode::kInvalidArgument, "'{}' is not an IP address to listen on", host);
  return Tcp::endpoint(address, port);
}

Result<void> listen(Tcp::acceptor& acceptor, const Tcp::endpoint& endpoint) {
  SystemError error;
  (void)acceptor.open(endpoint.protocol(), error);
  if (!error) (void)acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) (void)acceptor.bind(endpoint, error);
  if (!error) (void)acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  if (error == asio::error::address_in_use) {
    return fail(ErrorCode::kUnavailable, "another program already listens on {}:{}", endpoint.address().to_string(), endpoint.port());
  }
  return fail(ErrorCode::kUnavailable, "can't listen on {}:{}: {}", endpoint.address().to_string(), endpoint.port(), error.message());
}

/// The stuck handlers use objects that are about to be freed. Aborting is the lesser evil: the store survives it like a power cut.
[[noreturn]] void abandon(const std::vector<std::string>& stuck) {
  std::fprintf(stderr, "footnote: handlers did not return after they were stopped; aborting: %s\n", join(stuck, ", ").c_str());
  std::abort();
}

/// Runs something when a coroutine ends, also when asio destroys it.
template <class Action>
class AtEnd {
 public:
  explicit AtEnd(Action action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  Action action_;
};

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Router router, Metrics& metrics)
      : shared_(std::move(options), std::move(router), metrics),
        io_(static_cast<int>(shared_.options.io_threads)),
        upstreams_(one_at_a_time()),
        acceptor_(one_at_a_time()),
        accept_retry_(acceptor_.get_executor()),
        relay_loop_(shared_.options.io_uring ? RelayLoop::Backend::kBest : RelayLoop::Backend::kEpoll) {
    shared_.upstreams = &upstreams_;
    shared_.relay_loop = &relay_loop_;
  }

  ~Impl() {
    (void)contained("http", "draining", [this] { drain(std::chrono::milliseconds{0}); });
    (void)contained("http", "stopping the workers", [this] {
      const auto stuck = shared_.workers.stop(std::chrono::steady_clock::now() + shared_.options.handler_stop_max);
      if (!stuck.empty()) abandon(stuck);
    });
    shared_.connections.wait_until_empty(std::chrono::steady_clock::now() + kDrainStopMax);
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  Result<void> start(const Tcp::endpoint& endpoint) {
    FOOTNOTE_CHECK(listen(acceptor_, endpoint));
    SystemError error;
    port_ = acceptor_.local_endpoint(error).port();
    for (unsigned i = 0; i < shared_.options.io_threads; ++i) threads_.emplace_back([this] { run_io(); });
    return {};
  }

  void drain(std::chrono::milliseconds grace) {
    shared_.draining = true;
    asio::post(acceptor_.get_executor(), [this] {
      SystemError ignored;
      (void)acceptor_.close(ignored);
      accept_retry_.cancel();
    });
    for_each_connection([](Connection& connection) { connection.drain(); });
    if (shared_.connections.wait_until_empty(std::chrono::steady_clock::now() + grace)) return;
    for_each_connection([](Connection& connection) { connection.stop(); });
    shared_.connections.wait_until_empty(std::chrono::steady_clock::now() + kDrainStopMax);
  }

  std::uint16_t port() const { return port_; }

 private:
  /// An executor that runs one thing at a time. With a single thread the context itself does.
  asio::any_io_executor one_at_a_time() {
    if (shared_.options.io_threads == 1) return io_.get_executor();
    return asio::make_strand(io_);
  }

  void run_io() {
    while (!io_.stopped()) {
      (void)contained("http", "an I/O handler", [this] {
        accept_again();
        io_.run();
      });
    }
  }

  /// If Asio has no memory to start an operation, it destroys the coroutine silently. Without the accepting coroutine, the server would run
  /// but answer nobody, so start it again.
  void accept_again() {
    if (accepting_.exchange(true) || shared_.draining || !acceptor_.is_open()) return;
    try {
      asio::co_spawn(acceptor_.get_executor(), accept_all(), asio::detached);
    } catch (...) {
      accepting_ = false;
      throw;
    }
  }

  Task<void> accept_all() {
    const AtEnd again([this] {
      accepting_ = false;
      (void)contained("http", "accepting connections again", [this] { accept_again(); });
    });
    bool pausing = false;
    while (acceptor_.is_open() && !shared_.draining) {
      try {
        if (std::exchange(pausing, false)) {
          accept_retry_.expires_after(kAcceptRetry);
          co_await accept_retry_.async_wait(kAwait);
        }
        pausing = !co_await accept_one();
      } catch (...) {
        log_contained_exception("http", "accepting a connection");
        pausing = true;
      }
    }
  }

  /// False: try again later.
  Task<bool> accept_one() {
    Tcp::socket socket(one_at_a_time());
    auto [error] = co_await acceptor_.async_accept(socket, kAwait);
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) co_return true;
    if (error) {
      // Most likely out of descriptors: connections stay in the backlog until some are free.
      log(LogLevel::kWarn, "http", "can't accept a connection", {{"reason", error.message()}});
      co_return false;
    }
    admit(std::move(socket));
    co_return true;
  }

  void admit(Tcp::socket socket) {
    SystemError error;
    const auto remote = socket.remote_endpoint(error);
    if (error) return;  // already disconnected
    std::string peer = client_network(remote.address().to_string());
    std::shared_ptr<Connection> given_up;
    switch (shared_.connections.make_room(peer, given_up)) {
      case ConnectionTable::Room::kFree: break;
      case ConnectionTable::Room::kFull:
        return turn_away(std::move(socket), refuse(503, ErrorCode::kResourceExhausted, "too many connections; try again in a second"));
      case ConnectionTable::Room::kPeerFull:
        return turn_away(std::move(socket), refuse(429, ErrorCode::kResourceExhausted, "too many connections from your address"));
    }
    if (given_up) {
      shared_.metrics.connections_given_up.add();
      asio::post(given_up->executor(), [given_up] { given_up->give_up(); });
    }
    auto executor = socket.get_executor();
    auto connection = std::make_shared<Connection>(std::move(socket), shared_);
    try {
      shared_.connections.add(connection, std::move(peer));
      asio::co_spawn(executor, serve(connection), asio::detached);
    } catch (...) {
      shared_.connections.remove(*connection);  // Otherwise its place would stay occupied.
      throw;
    }
  }

  Task<void> serve(std::shared_ptr<Connection> connection) {
    // Also close the socket: a watcher may still hold the connection, and the client would wait for an answer that never comes.
    const AtEnd leave([this, &connection] {
      (void)contained("http", "ending a connection", [&] { connection->stop(); });
      shared_.connections.remove(*connection);
    });
    try {
      co_await connection->run();
    } catch (...) {
      log_contained_exception("http", "a connection");
    }
  }

  void turn_away(Tcp::socket socket, Refusal refusal) {
    shared_.metrics.connections_refused.add();
    if (turned_away_ >= kTurnedAwayMax) return;
    auto executor = socket.get_executor();
    refusal.headers.set("retry-after", "1");
    asio::co_spawn(executor, say_and_close(std::move(socket), std::move(refusal)), asio::detached);
  }

  /// Also reads what the client sends, so that the response is not lost to a reset.
  Task<void> say_and_close(Tcp::socket socket, Refusal refusal) {
    ++turned_away_;
    const AtEnd done([this] { --turned_away_; });
    const Response response = render_refusal(shared_.options, refusal);
    HeadOptions head_options;
    head_options.content_length = response.body.size();
    head_options.keep_alive = false;
    const std::string text = render_response_head(response.status, response.headers, head_options) + response.body;
    Watchdog watchdog(socket.get_executor(), [&socket] {
      SystemError ignored;
      (void)socket.close(ignored);
    });
    watchdog.arm(kTurnAwayTime);
    auto [error, size] = co_await asio::async_write(socket, asio::buffer(text), kAwait);
    SystemError ignored;
    (void)socket.shutdown(Tcp::socket::shutdown_send, ignored);
    char dropped[1024];
    while (!error) std::tie(error, size) = co_await socket.async_read_some(asio::buffer(dropped), kAwait);
  }

  template <class Action>
  void for_each_connection(Action action) {
    for (const auto& connection : shared_.connections.all()) {
      asio::post(connection->executor(), [connection, action] { action(*connection); });
    }
  }

  ServerShared shared_;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> turned_away_{0};
  std::atomic<bool> accepting_{false};

  // Declared after what its handlers use and before what uses it.
  asio::io_context io_;
  const asio::executor_work_guard<asio::io_context::executor_type> keep_running_{io_.get_executor()};  // until io_.stop()
  UpstreamPools upstreams_;
  Tcp::acceptor acceptor_;
  asio::steady_timer accept_retry_;
  RelayLoop relay_loop_;  // destroyed first: it serves calls that end with io_
  std::vector<std::thread> threads_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, std::vector<Route> routes, Metrics& metrics) {
  FOOTNOTE_CHECK(check_options(options));
  FOOTNOTE_TRY(const Tcp::endpoint endpoint, parse_endpoint(options.host, options.port));
  FOOTNOTE_TRY(Router router, Router::build(std::move(routes)));
  try {
    auto impl = std::make_unique<Impl>(std::move(options), std::move(router), metrics);
    FOOTNOTE_CHECK(impl->start(endpoint));
    return std::unique_ptr<Server>(new Server(std::move(impl)));
  } catch (const std::runtime_error& error) {  // no thread, no descriptor
    return fail(ErrorCode::kResourceExhausted,
                "can't start the HTTP server: {}; allow more memory (--memory-max), threads (ulimit -u) or files (ulimit -n)",
                error.what());
  }
}

std::uint16_t Server::port() const { return impl_->port(); }
void Server::drain(std::chrono::milliseconds grace) { impl_->drain(grace); }

}  // namespace footnote::http
