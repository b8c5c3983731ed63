#pragma once

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/call_context.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "http/client_core.h"
#include "http/message.h"
#include "http/router.h"
#include "http/stream.h"

namespace footnote::http {

/// Why a handler did not return normally.
enum class HandlerFailure { kOutOfMemory, kOther };

/// Connects a handler on a worker with the connection that waits for it. The handler's side blocks; the connection's side never does:
/// `wake` (any thread, must not block) tells it that output is ready. Shared, because either side may finish first. Thread-safe.
class Exchange final : public ResponseStream, private SseWriter, private ByteWriter {
 public:
  /// `room_deadline` limits how long a sender waits for room in the queue.
  Exchange(std::shared_ptr<const Request> request, CallContext call, std::chrono::milliseconds room_deadline, std::function<void()> wake);

  // Handler's side.
  const Request& request() const { return *request_; }
  const CallContext& call() const { return call_; }
  void reply(Response response) override;
  SseWriter& start_sse(Headers extra) override;
  ByteWriter& start_bytes(int status, Headers headers) override;
  void relay(Client& client, ClientRequest request, std::unique_ptr<Relay> relay) override;
  void cut() override;
  /// Runs the handler, counted by `running`, and ends the exchange. Exceptions are logged. Before a stream has started, the connection then
  /// answers 500, or 503 if memory ran out; afterwards, the stream is truncated.
  void run(const Route& route, Gauge& running) noexcept;

  // Connection's side.
  struct Output {
    bool started = false;    ///< The stream has started.
    bool finished = false;   ///< The handler has returned and all bytes were taken.
    bool aborted = false;    ///< The stream must not end as if it were complete.
    bool mid_frame = false;  ///< The bytes end inside a frame: insert nothing here.
    std::string bytes;
  };
  /// Takes at most `bytes_max` bytes of the stream. They count against the queue until `written`.
  Output take(std::size_t bytes_max);
  void written(std::size_t bytes);
  /// Start of a stream. For server-sent events the status is 200, and comments may be inserted between frames.
  struct StreamHead {
    bool is_sse = true;
    int status = 200;
    Headers headers;
  };
  StreamHead take_stream_head();
  std::optional<Response> take_reply();
  std::optional<HandlerFailure> failure();
  /// What the handler passed to a relay. From then on the handler's side runs on the connection's thread too, and writes never block.
  struct Relayed {
    AdmittedCall call;
    std::unique_ptr<Relay> relay;
  };
  std::optional<Relayed> take_relayed();
  /// Takes everything the relay has written since the last call and counts it as written. nullopt if no stream has started.
  std::optional<std::string> take_relayed_bytes();
  /// The client disconnected or is too slow: stops the handler's context and fails its writes with this code.
  void close(ErrorCode code);
  bool is_closed();

 private:
  /// False if the request was already answered.
  bool begin(StreamHead head);
  Result<void> write(std::string_view frame) override;
  Result<void> write_bytes(std::string_view bytes) override { return write(bytes); }
  Result<void> write_piece(std::string_view& rest) FOOTNOTE_TSA(requires_capability(frame_mutex_));
  /// False if the deadline passed. True if there is room or the exchange was closed.
  bool wait_for_room(MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));

  // Constant after construction.
  const std::shared_ptr<const Request> request_;  // shared: the connection still reads it to log the response
  std::stop_source stop_;
  CallContext call_;
  const std::chrono::milliseconds room_deadline_;
  const std::function<void()> wake_;

  // Held for a whole frame, so that frames of several threads do not interleave. Lock before mutex_.
  Mutex frame_mutex_;

  Mutex mutex_;
  CondVar room_;
  std::string queue_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t in_flight_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  StreamHead stream_head_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::optional<Relayed> relayed_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::optional<Response> reply_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::optional<ErrorCode> closed_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool started_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool replied_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool relaying_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool mid_frame_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool aborted_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  bool returned_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::optional<HandlerFailure> failed_ FOOTNOTE_TSA(guarded_by(mutex_));
};

/// Calls a plain handler; an exception is logged.
std::expected<Response, HandlerFailure> call_handler(const Handler& handler, const Request& request, const CallContext& call) noexcept;

}  // namespace footnote::http
