#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "http/client.h"
#include "http/client_core.h"
#include "http/idle_connections.h"
#include "http/relay_loop.h"
#include "http/transport.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

/// State shared by all calls of one client. Must outlive them.
struct ClientShared {
  explicit ClientShared(ClientOptions client_options);
  ~ClientShared();

  const ClientOptions options;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  asio::io_context io{1};  ///< Runs the calls that block their caller.
  IdleConnections idle;

 private:
  void run_io();
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// Receives the response of a call. All functions are called on the call's executor.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual Result<void> on_head(int status, Headers headers) = 0;
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// Awaited before each further read from the upstream; completes when the sink can take more.
  virtual Task<Result<void>> make_room() = 0;
  /// The client's socket, lent to a RelayLoop, which writes to it until `take_back`. A sink may lend it only if it has nothing left to
  /// write and its output can be produced on another thread.
  struct Lent {
    int socket;
    std::optional<std::chrono::milliseconds> keep_alive_time;  ///< Send a keep-alive after this much silence.
  };
  virtual std::optional<Lent> lend() { return std::nullopt; }
  /// Both are called on the loop's thread while the socket is lent, like on_body. take_output appends what the client should receive now,
  /// take_keep_alive a keep-alive.
  virtual void take_output(std::string&) {}
  virtual void take_keep_alive(std::string&) {}
  /// The argument is output that was taken but not sent.
  virtual void take_back(std::string) {}
  /// The call was aborted: any wait in make_room must end.
  virtual void on_abort() {}
};

/// A body with more pieces than this moves to the relay loop; for shorter ones the move does not pay off. A read that fills its whole
/// buffer does not count as a piece: it belongs to a body that arrives at full speed.
inline constexpr int kPiecesBeforeLoop = 4;

/// One call as a coroutine: opens or reuses a connection, sends the request, reads the response. Everything, including abort and the
/// destructor, runs on `executor`, which runs one thing at a time.
class ClientCall final : private RelayLoop::Stream {
 public:
  /// `idle` must use the same I/O threads as `executor`. `loop` may be null.
  ClientCall(ClientShared& shared, IdleConnections& idle, RelayLoop* loop, const asio::any_io_executor& executor, ClientRequest request,
             Url url, std::chrono::steady_clock::time_point deadline);

  /// Call once. Afterwards no socket stays open, except in the pool.
  Task<CallEnd> run(CallSink& sink);
  /// Closes the upstream's socket at once; the call then ends with this error, unless it has already ended.
  void abort(Error error);
  const std::optional<Error>& aborted() const { return aborted_; }

 private:
  enum class Reuse { kAllowed, kFresh };
  /// State of a body while the relay loop reads it.
  struct Looped {
    ResponseParser& parser;
    std::uint64_t id = 0;
    Result<bool> complete = false;  ///< Result of take_body; written by the loop.
    std::optional<RelayLoop::Ended> ended = {};
  };
  Task<Result<void>> attempt(Reuse reuse);
  Task<Result<void>> connect();
  Task<SystemError> connect_any(const std::vector<Tcp::endpoint>& endpoints);
  Result<void> check_addresses(const std::vector<Tcp::endpoint>& endpoints) const;
  Task<Result<void>> send_request();
  Task<Result<bool>> read_response();  ///< True if the connection can be reused.
  Task<Result<void>> read_head(std::optional<ResponseParser>& parser);
  Task<Result<void>> read_more(bool& ended);
  Task<Result<void>> read_body(ResponseParser& parser);
  Result<bool> take_buffer(ResponseParser& parser);
  Result<bool> take_body(ResponseParser& parser, asio::const_buffer& bytes);
  Result<void> hand_over(std::string& bytes);
  Task<Result<bool>> read_by_loop(ResponseParser& parser, CallSink::Lent lent, bool& ended);
  bool on_bytes(std::string_view bytes, std::string& output) override;
  void on_keep_alive(std::string& output) override { sink_->take_keep_alive(output); }
  void on_end(RelayLoop::Ended ended) override;
  Result<bool> take_in_place(ResponseParser& parser, asio::const_buffer bytes);
  void keep(asio::const_buffer bytes);
  /// Whether to continue after a read. Sets `ended` at end of stream.
  Result<void> check_read(const SystemError& error, bool& ended) const;
  /// Records that an error came from the sink (the consumer), not from the connection.
  Result<void> from_sink(Result<void> result);
  std::unexpected<Error> unavailable(std::string_view what) const;

  ClientShared& shared_;
  IdleConnections& idle_;
  RelayLoop* const loop_;
  const asio::any_io_executor executor_;
  const ClientRequest request_;
  const Url url_;
  const std::string pool_key_;
  const std::chrono::steady_clock::time_point deadline_;
  CallSink* sink_ = nullptr;

  std::unique_ptr<Transport> transport_;
  Watchdog deadline_watch_;
  Watchdog silence_watch_;
  asio::steady_timer pause_;
  beast::flat_buffer buffer_;
  std::optional<Error> aborted_;
  std::string_view too_late_ = "can't be reached: connecting took too long";  // message when silence_watch_ expires
  int status_ = 0;
  bool reused_ = false;
  bool answered_ = false;  // the response has started
  bool sink_failed_ = false;
  std::size_t body_bytes_ = 0;  // received so far
  Looped* looped_ = nullptr;    // set while the loop owns the sockets
};

/// One blocking call: a coroutine on the client's I/O thread talks to the upstream, and the caller blocks for its output. Shared by both;
/// destroyed on the I/O thread, where its timers live. The caller waits until the coroutine has ended.
class BlockingCall final : public std::enable_shared_from_this<BlockingCall>, private CallSink {
 public:
  BlockingCall(ClientShared& shared, ClientRequest request, Url url, std::chrono::steady_clock::time_point deadline);

  // Caller's side; any thread.
  struct Output {
    bool head = false;  ///< Status and headers have just arrived.
    int status = 0;
    Headers headers;
    std::string bytes;
    std::optional<CallEnd> end;
  };
  void start();
  /// Blocks for the next output, which counts against kHandOverBytesMax until the following call.
  Output next();
  /// See ClientCall::abort.
  void cancel(Error error);

 private:
  // I/O thread's side.
  Task<void> run();
  Result<void> on_head(int status, Headers headers) override;
  Result<void> on_body(std::string_view bytes) override;
  Task<Result<void>> make_room() override;
  void on_abort() override { room_timer_.cancel(); }
  bool has_room();

  ClientShared& shared_;
  asio::steady_timer room_timer_;
  ClientCall call_;

  Mutex mutex_;
  CondVar ready_;
  Output output_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t in_hand_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // given to the caller, not yet consumed
  bool reader_paused_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::http
