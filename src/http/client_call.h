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

// For .cpp files of this folder only.
namespace footnote::http {

/// What calls of one client share. Outlives them.
struct ClientShared {
  explicit ClientShared(ClientOptions client_options);
  ~ClientShared();

  const ClientOptions options;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  asio::io_context io{1};  ///< Of the calls that block their caller.
  IdleConnections idle;

 private:
  void run_io();
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// Where the answer of a call goes. All of it is called on the call's executor.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual Result<void> on_head(int status, Headers headers) = 0;
  virtual Result<void> on_body(std::string_view bytes) = 0;
  /// Before more is read from the upstream: returns when that may be.
  virtual Task<Result<void>> make_room() = 0;
  /// The client's socket, for a RelayLoop to write to until `take_back`: of a sink that has nothing left to write, and whose output can be
  /// made on another thread.
  struct Lent {
    int socket;
    std::optional<std::chrono::milliseconds> keep_alive_time;  ///< Silence that is filled.
  };
  virtual std::optional<Lent> lend() { return std::nullopt; }
  /// While it is lent, on the loop's thread, on_body too: appends what the client is to get now, or in a silence.
  virtual void take_output(std::string&) {}
  virtual void take_keep_alive(std::string&) {}
  /// `unsent`: what was taken and did not go.
  virtual void take_back(std::string) {}
  /// The call was aborted: a wait in make_room is to end.
  virtual void on_abort() {}
};

/// A body that comes in more pieces than this goes to the relay loop; a shorter one is over before that would pay. What fills the space
/// for a read is no piece, but part of a body that comes as fast as it can.
inline constexpr int kPiecesBeforeLoop = 4;

/// One call as a coroutine: connects or takes a connection that waits, sends the request, reads the answer. Everything, abort and the
/// destructor included, happens on `executor`, whose work runs one at a time.
class ClientCall final : private RelayLoop::Stream {
 public:
  /// `idle` lives on the same I/O threads as `executor`. `loop` may be null.
  ClientCall(ClientShared& shared, IdleConnections& idle, RelayLoop* loop, const asio::any_io_executor& executor, ClientRequest request,
             Url url, std::chrono::steady_clock::time_point deadline);

  /// Once. No socket outlives it but in the pool.
  Task<CallEnd> run(CallSink& sink);
  /// Closes the upstream's socket at once; the call then ends with this error unless it has already ended.
  void abort(Error error);
  const std::optional<Error>& aborted() const { return aborted_; }

 private:
  enum class Reuse { kAllowed, kFresh };
  /// A body that is the loop's, until the loop has ended.
  struct Looped {
    ResponseParser& parser;
    std::uint64_t id = 0;
    Result<bool> complete = false;  ///< As take_body says; the loop's.
    std::optional<RelayLoop::Ended> ended = {};
  };
  Task<Result<void>> attempt(Reuse reuse);
  Task<Result<void>> connect();
  Task<SystemError> connect_any(const std::vector<Tcp::endpoint>& endpoints);
  Result<void> check_addresses(const std::vector<Tcp::endpoint>& endpoints) const;
  Task<Result<void>> send_request();
  Task<Result<bool>> read_response();  ///< True when the connection can serve another call.
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
  /// Whether to go on after a read. `ended`: there is no more.
  Result<void> check_read(const SystemError& error, bool& ended) const;
  /// An error of the sink is the consumer's.
  Result<void> sunk(Result<void> result);
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
  std::string_view too_late_ = "can't be reached: connecting took too long";  // what an expired silence_watch_ says
  int status_ = 0;
  bool reused_ = false;
  bool answered_ = false;  // a byte of the answer has come
  bool sink_failed_ = false;
  std::size_t body_bytes_ = 0;  // so far
  Looped* looped_ = nullptr;    // while the loop has the sockets
};

/// One call: a coroutine on the client's I/O thread that talks to the upstream, and a caller that blocks for what it hands
/// over. Shared by both, given up on the I/O thread, where its timers live. The caller waits until the coroutine has
/// ended.
class BlockingCall final : public std::enable_shared_from_this<BlockingCall>, private CallSink {
 public:
  BlockingCall(ClientShared& shared, ClientRequest request, Url url, std::chrono::steady_clock::time_point deadline);

  // The caller's side; any thread.
  struct Output {
    bool head = false;  ///< Status and headers have just come.
    int status = 0;
    Headers headers;
    std::string bytes;
    std::optional<CallEnd> end;
  };
  void start();
  /// Blocks for the next output. What it gives counts against kHandOverBytesMax until the next call.
  Output next();
  /// See ClientCall::abort.
  void cancel(Error error);

 private:
  // The I/O thread's side.
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
