#include <sys/socket.h>

#include <exception>
#include <stop_token>

#include "base/log.h"
#include "http/client_call.h"
#include "http/connection.h"

// Answers that are made from an upstream's.
namespace footnote::http {

/// Makes one answer: both sockets are served on the connection's strand, so what comes costs one read and one write and no switch to
/// another thread. The upstream is read when the client has taken what came before: nothing piles up here.
class Connection::Splice final : public CallSink {
 public:
  Splice(Connection& connection, Exchange& exchange, const Arrival& arrival, std::unique_ptr<Relay> relay)
      : connection_(connection), exchange_(exchange), arrival_(arrival), relay_(std::move(relay)), beat_(connection.executor(), [this] {
          beat();
        }) {}

  /// Asks until the relay has its answer.
  Task<void> run(AdmittedCall call);
  /// Writes the rest. False when the stream was cut, by whomever.
  Task<bool> finish();
  const std::optional<Outgoing>& stream() const { return stream_; }

 private:
  Task<std::optional<ClientRequest>> ask(AdmittedCall call);
  std::optional<ClientRequest> end(const CallEnd& end);
  Result<void> on_head(int status, Headers headers) override;
  Result<void> on_body(std::string_view bytes) override;
  Task<Result<void>> make_room() override;
  std::string take_output();
  Task<bool> write(std::string_view bytes);
  void beat();

  /// What a relay throws must not unwind past a call that is under way. What it has written so far is not all.
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
  std::string framed(std::string_view bytes) const {
    return stream_->framing == Framing::kChunked ? render_chunk(bytes) : std::string(bytes);
  }

  Connection& connection_;
  Exchange& exchange_;
  const Arrival& arrival_;
  const std::unique_ptr<Relay> relay_;
  Watchdog beat_;
  std::optional<GaugeHold> open_;
  std::optional<Outgoing> stream_;
  ClientCall* call_ = nullptr;
  bool waiting_ = false;  // for the upstream, with everything written
  bool broken_ = false;   // the client's side is
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
  ClientCall running(core.shared(), connection_.shared_.upstreams->of(core), connection_.executor(), call.take_request(), call.url(),
                     exchange_.call().deadline);
  const std::stop_callback on_stop(exchange_.call().stop,
                                   [&running] { running.abort({ErrorCode::kCancelled, "the client went away", {}}); });
  call_ = &running;
  CallEnd ended = co_await running.run(*this);
  call_ = nullptr;
  waiting_ = false;
  beat_.disarm();
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

/// What the relay has written, as it goes out: with the head before it when that is still to be sent.
std::string Connection::Splice::take_output() {
  const Exchange::Output output = exchange_.take(std::string::npos);
  if (!output.started) return {};
  exchange_.written(output.bytes.size());
  std::string out;
  if (!stream_) {
    open_.emplace(connection_.shared_.metrics.open_streams);
    stream_ = connection_.begin_stream(exchange_, arrival_);
    out = std::move(stream_->head);
  }
  if (!output.bytes.empty() && !head_only()) out += framed(output.bytes);
  return out;
}

Task<bool> Connection::Splice::write(std::string_view bytes) {
  broken_ = broken_ || !connection_.write_at_once(bytes);
  while (!broken_ && !bytes.empty()) {
    const std::string_view slice = bytes.substr(0, kWriteSliceBytes);
    broken_ = !co_await connection_.write_all(slice);
    bytes.remove_prefix(slice.size());
  }
  co_return !broken_;
}

Task<Result<void>> Connection::Splice::make_room() {
  const std::string bytes = take_output();
  if (!bytes.empty() && !co_await write(bytes)) co_return fail(ErrorCode::kCancelled, "the client went away");
  waiting_ = true;
  if (stream_ && stream_->is_sse) beat_.arm(connection_.shared_.options.sse_keep_alive);
  co_return Result<void>{};
}

/// The upstream is silent: the client hears a comment. Where its buffer is full it has enough to read.
void Connection::Splice::beat() {
  if (!waiting_) return;
  const std::string comment = framed(kKeepAliveComment);
  const ssize_t sent = ::send(connection_.socket_.native_handle(), comment.data(), comment.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0 && static_cast<std::size_t>(sent) != comment.size()) {
    broken_ = true;
    call_->abort({ErrorCode::kCancelled, "the client went away", {}});
    return;
  }
  beat_.arm(connection_.shared_.options.sse_keep_alive);
}

Task<bool> Connection::Splice::finish() {
  std::string bytes = take_output();
  const bool whole = !exchange_.take(0).aborted;
  if (whole && !head_only() && stream_->framing == Framing::kChunked) bytes += kLastChunk;
  const bool written = co_await write(bytes);
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
