#include <sys/socket.h>

#include <exception>
#include <stop_token>

#include "base/log.h"
#include "http/client_call.h"
#include "http/connection.h"

// Responses relayed from an upstream.
namespace footnote::http {

/// Relays one response: both sockets are served on the connection's strand, or by the relay loop if the response is long. The upstream is
/// read only after the client has accepted the previous output, so nothing accumulates here.
class Connection::Splice final : public CallSink {
 public:
  Splice(Connection& connection, Exchange& exchange, const Arrival& arrival, std::unique_ptr<Relay> relay)
      : connection_(connection),
        exchange_(exchange),
        arrival_(arrival),
        relay_(std::move(relay)),
        keep_alive_timer_(connection.executor(), [this] { keep_alive(); }) {}

  /// Sends upstream requests until the relay has completed its response.
  Task<void> run(AdmittedCall call);
  /// Writes the rest. False if the stream was truncated, by either side.
  Task<bool> finish();
  const std::optional<Outgoing>& stream() const { return stream_; }

 private:
  Task<std::optional<ClientRequest>> ask(AdmittedCall call);
  std::optional<ClientRequest> end(const CallEnd& end);
  Result<void> on_head(int status, Headers headers) override;
  Result<void> on_body(std::string_view bytes) override;
  Task<Result<void>> make_room() override;
  std::optional<Lent> lend() override;
  void take_output(std::string& out) override;
  void take_keep_alive(std::string& out) override;
  void take_back(std::string unsent) override;
  /// True when all output is sent.
  bool write_at_once();
  Task<bool> write_rest();
  void forget_output();
  void wait_for_upstream();
  void keep_alive();

  /// A relay's exceptions must not unwind through a call in progress. Its output so far is incomplete.
  template <class Callback>
  Result<void> guarded(Callback&& callback) {
    try {
      return callback();
    } catch (const std::exception& error) {
      log(LogLevel::kError, "http", "a relay threw", {{"route", arrival_.request->route}, {"reason", error.what()}});
      exchange_.cut();
      return fail(ErrorCode::kInternal, "internal error");
    }
  }
  bool head_only() const { return arrival_.request->method == Method::kHead; }
  void append_framed(std::string& out, std::string_view bytes) const {
    stream_->framing == Framing::kChunked ? append_chunk(out, bytes) : void(out += bytes);
  }

  Connection& connection_;
  Exchange& exchange_;
  const Arrival& arrival_;
  const std::unique_ptr<Relay> relay_;
  Watchdog keep_alive_timer_;
  std::optional<GaugeHold> open_;
  std::optional<Outgoing> stream_;
  ClientCall* call_ = nullptr;
  std::string output_;    // being sent to the client
  std::size_t sent_ = 0;  // bytes of output_ already sent
  bool waiting_ = false;  // waits for the upstream; everything is written
  bool broken_ = false;   // the client's side is broken
};

Task<void> Connection::Splice::run(AdmittedCall call) {
  ClientCore& core = call.core();
  std::optional<ClientRequest> next = co_await ask(std::move(call));
  while (next) {
    Result<AdmittedCall> admitted = core.admit(exchange_.call(), *std::move(next));
    if (admitted) {
      next = co_await ask(*std::move(admitted));
    } else {
      next = end({0, std::unexpected(std::move(admitted).error()), false});
    }
  }
}

Task<std::optional<ClientRequest>> Connection::Splice::ask(AdmittedCall call) {
  ClientCore& core = call.core();
  ClientCall running(core.shared(), connection_.shared_.upstreams->of(core), connection_.shared_.relay_loop, connection_.executor(),
                     call.take_request(), call.url(), exchange_.call().deadline);
  const std::stop_callback on_stop(exchange_.call().stop,
                                   [&running] { running.abort({ErrorCode::kCancelled, "the client disconnected", {}}); });
  call_ = &running;
  CallEnd ended = co_await running.run(*this);
  call_ = nullptr;
  waiting_ = false;
  keep_alive_timer_.disarm();
  call.end(ended);
  co_return end(ended);
}

std::optional<ClientRequest> Connection::Splice::end(const CallEnd& end) {
  std::optional<ClientRequest> next;
  const Result<int> ended = end.result ? Result<int>(end.status) : std::unexpected(end.result.error());
  (void)guarded([&]() -> Result<void> {
    next = relay_->on_end(ended);
    return {};
  });
  return next;
}

Result<void> Connection::Splice::on_head(int status, Headers headers) {
  waiting_ = false;
  return guarded([&] { return relay_->on_head(status, headers); });
}

Result<void> Connection::Splice::on_body(std::string_view bytes) {
  waiting_ = false;
  return guarded([&] { return relay_->on_body(bytes); });
}

/// Appends the relay's output in wire format, preceded by the head if that has not been sent yet.
void Connection::Splice::take_output(std::string& out) {
  const std::optional<std::string> bytes = exchange_.take_relayed_bytes();
  if (!bytes) return;
  if (!stream_) {
    open_.emplace(connection_.shared_.metrics.open_streams);
    stream_ = connection_.begin_stream(exchange_, arrival_);
    out += stream_->head;
  }
  if (!bytes->empty() && !head_only()) append_framed(out, *bytes);
}

/// Only after the head is sent: the connection's own thread must write it.
std::optional<CallSink::Lent> Connection::Splice::lend() {
  if (!stream_ || head_only()) return std::nullopt;
  waiting_ = false;
  keep_alive_timer_.disarm();
  connection_.lent_ = true;
  Lent lent{connection_.socket_.native_handle(), std::nullopt};
  if (stream_->is_sse) lent.keep_alive_time = connection_.shared_.options.sse_keep_alive;
  return lent;
}

void Connection::Splice::take_keep_alive(std::string& out) { append_framed(out, kKeepAliveComment); }

void Connection::Splice::take_back(std::string unsent) {
  connection_.lent_ = false;
  output_ = std::move(unsent);
}

bool Connection::Splice::write_at_once() {
  std::string_view rest = std::string_view(output_).substr(sent_);
  if (!rest.empty()) broken_ = broken_ || !connection_.write_at_once(rest);
  sent_ = output_.size() - rest.size();
  if (broken_ || !rest.empty()) return false;
  forget_output();
  return true;
}

/// Writes what was not accepted at once. False if the client's side is broken.
Task<bool> Connection::Splice::write_rest() {
  while (!broken_ && sent_ < output_.size()) {
    const std::string_view slice = std::string_view(output_).substr(sent_, kWriteSliceBytes);
    broken_ = !co_await connection_.write_all(slice);
    sent_ += slice.size();
  }
  forget_output();
  co_return !broken_;
}

void Connection::Splice::forget_output() {
  std::string().swap(output_);  // do not keep the buffer: see ClientCall::hand_over
  sent_ = 0;
}

void Connection::Splice::wait_for_upstream() {
  waiting_ = true;
  if (stream_ && stream_->is_sse) keep_alive_timer_.arm(connection_.shared_.options.sse_keep_alive);
}

Task<Result<void>> Connection::Splice::make_room() {
  take_output(output_);
  bool room = write_at_once();
  if (!room) room = co_await write_rest();
  if (!room) co_return fail(ErrorCode::kCancelled, "the client disconnected");
  wait_for_upstream();
  co_return Result<void>{};
}

/// The upstream is silent: sends the client a comment, unless its buffer is full.
void Connection::Splice::keep_alive() {
  if (!waiting_) return;
  std::string comment;
  append_framed(comment, kKeepAliveComment);
  const ssize_t sent = ::send(connection_.socket_.native_handle(), comment.data(), comment.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0 && static_cast<std::size_t>(sent) != comment.size()) {
    broken_ = true;
    call_->abort({ErrorCode::kCancelled, "the client disconnected", {}});
    return;
  }
  keep_alive_timer_.arm(connection_.shared_.options.sse_keep_alive);
}

Task<bool> Connection::Splice::finish() {
  take_output(output_);
  const bool whole = !exchange_.take(0).aborted;
  if (whole && !head_only() && stream_->framing == Framing::kChunked) output_ += kLastChunk;
  bool written = write_at_once();
  if (!written) written = co_await write_rest();
  co_return written&& whole;
}

Task<Connection::Next> Connection::relayed_answer(std::shared_ptr<Exchange> exchange, const Arrival& arrival, Exchange::Relayed relayed) {
  Splice splice(*this, *exchange, arrival, std::move(relayed.relay));
  co_await splice.run(std::move(relayed.call));
  unwatch_client();
  if (!exchange->take(0).started) co_return co_await plain_answer(*exchange, arrival);
  const bool ok = co_await splice.finish();
  SystemError ignored;
  if (!ok) socket_.close(ignored);
  finish(arrival, ok ? splice.stream()->status : 499);
  co_return ok&& splice.stream()->keep_alive && !shared_.draining ? Next::kKeepAlive : Next::kClose;
}

}  // namespace footnote::http
