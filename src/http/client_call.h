#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "http/client.h"
#include "http/transport.h"

// For .cpp files of this folder only.
namespace footnote::http {

/// Connections that wait for their next call. Lives on the I/O thread.
class IdleConnections {
 public:
  IdleConnections(const asio::any_io_executor& executor, std::size_t count_max, std::chrono::milliseconds time_max)
      : count_max_(count_max), time_max_(time_max), sweep_(executor, [this] { drop_old(); }) {}

  /// A live one for this key ("https://host:port"), or null.
  std::unique_ptr<Transport> take(const std::string& key);
  /// Past the bound the oldest is closed.
  void put(std::string key, std::unique_ptr<Transport> transport);

 private:
  struct Entry {
    std::string key;
    std::unique_ptr<Transport> transport;
    std::chrono::steady_clock::time_point until;
  };
  void drop_old();

  const std::size_t count_max_;
  const std::chrono::milliseconds time_max_;
  std::vector<Entry> entries_;  // oldest first
  Watchdog sweep_;
};

/// What calls of one client share on the I/O thread. Outlives them.
struct ClientShared {
  explicit ClientShared(ClientOptions client_options)
      : options(std::move(client_options)), idle(io.get_executor(), options.idle_connections_max, options.idle_time_max) {}

  const ClientOptions options;
  asio::io_context io{1};
  asio::ssl::context tls{asio::ssl::context::tls_client};
  IdleConnections idle;
};

/// One call: a coroutine on the I/O thread that talks to the upstream, and a caller that blocks for what it hands
/// over. Shared by both, given up on the I/O thread, where its timers live. The caller waits until the coroutine has
/// ended, so no socket outlives a call but in the pool.
class ClientCall : public std::enable_shared_from_this<ClientCall> {
 public:
  ClientCall(ClientShared& shared, ClientRequest request, Url url, std::chrono::steady_clock::time_point deadline);

  // The caller's side; any thread.
  struct Output {
    bool head = false;  ///< Status and headers have just come.
    int status = 0;
    Headers headers;
    std::string bytes;
    bool finished = false;
    std::optional<Error> error;
  };
  void start();
  /// Blocks for the next output. What it gives counts against kHandOverBytesMax until the next call.
  Output next();
  /// Closes the upstream's socket at once; the call then ends with this error unless it has already ended.
  void cancel(Error error);

 private:
  // The I/O thread's side.
  enum class Reuse { kAllowed, kFresh };
  Task<void> run();
  Task<Result<void>> attempt(Reuse reuse);
  Task<Result<void>> connect();
  Task<SystemError> connect_any(const std::vector<Tcp::endpoint>& endpoints);
  Result<void> check_addresses(const std::vector<Tcp::endpoint>& endpoints) const;
  Task<Result<void>> send_request();
  Task<Result<bool>> read_response();  ///< True when the connection can serve another call.
  Task<Result<void>> read_head(std::optional<ResponseParser>& parser);
  Task<Result<void>> read_more(bool& ended);
  Task<Result<void>> read_body(ResponseParser& parser);
  Task<Result<void>> hand_over(std::string bytes);
  void abort(Error error);
  void finish(std::optional<Error> error);
  std::unexpected<Error> unavailable(std::string_view what) const;

  ClientShared& shared_;
  const ClientRequest request_;
  const Url url_;
  const std::string pool_key_;
  const std::chrono::steady_clock::time_point deadline_;

  // The I/O thread's.
  std::unique_ptr<Transport> transport_;
  Watchdog deadline_watch_;
  Watchdog silence_watch_;
  asio::steady_timer room_timer_;
  beast::flat_buffer buffer_;
  std::optional<Error> aborted_;
  std::string_view too_late_ = "can't be connected: it took too long";  // what an expired silence_watch_ says
  bool reused_ = false;
  bool answered_ = false;  // a byte of the answer has come

  Mutex mutex_;
  CondVar ready_;
  Output output_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t in_hand_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // given to the caller, not yet consumed
  bool reader_paused_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
};

}  // namespace footnote::http
