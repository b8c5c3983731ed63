#include <poll.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/contained.h"
#include "base/log.h"
#include "http/connection.h"

// The second half of a connection: sending responses.
namespace footnote::http {

namespace {

constexpr std::size_t kSseWriteBytes = 16 << 10;
/// The kernel's share of a stream's backlog.
constexpr int kSseSendBufferBytes = 128 << 10;
/// A refused body up to this size is read and dropped, so that the connection can be kept.
constexpr std::uint64_t kDiscardBytesMax = 64 << 10;
/// After a refusal the client may still be sending. Closing at once would reset the connection before it reads the response.
constexpr std::chrono::milliseconds kLingerTime{1'000};
/// Covers the rest of the largest body: a client that reads only after sending everything would otherwise get a reset instead of its
/// answer.
constexpr std::size_t kLingerBytesMax = 32 << 20;
/// Polling interval for a client that has already sent its next request: unread data hides its disconnect, so it can't be awaited.
constexpr std::chrono::milliseconds kRecheckTime{50};

/// Retry-After for a request that ran out of memory: about the time until concurrent requests have freed theirs.
constexpr std::chrono::seconds kRetryAfterMemory{2};

/// Attempts to wake a connection when memory is exhausted: 10 s in total.
constexpr int kWakeTriesMax = 1'000;
constexpr std::chrono::milliseconds kWakePause{10};

enum class Peer { kQuiet, kSentMore, kGone };

Peer peek_at_peer(int socket) {
  pollfd entry{socket, POLLIN | POLLRDHUP, 0};
  if (::poll(&entry, 1, 0) <= 0) return Peer::kQuiet;
  if ((entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) return Peer::kGone;
  return Peer::kSentMore;
}

bool has_no_body(int status) { return status == 204 || status == 304; }

Refusal refusal_of(HandlerFailure failure) {
  if (failure == HandlerFailure::kOther) return refuse(500, ErrorCode::kInternal, "internal error");
  Refusal refusal = refuse(503, ErrorCode::kResourceExhausted, "the server is out of memory; try again in a few seconds");
  refusal.headers.set("retry-after", std::to_string(kRetryAfterMemory.count()));
  return refusal;
}

CallContext call_of(const Request& request, std::chrono::steady_clock::time_point deadline) {
  return {.deadline = deadline, .stop = {}, .trace = request.trace, .request_id = request.request_id};
}

}  // namespace

Headers Connection::final_headers(const Arrival& arrival, Headers headers) const {
  headers.set("x-request-id", arrival.request->request_id);
  headers.set("traceparent", to_traceparent(arrival.request->trace));
  if (shared_.options.decorate) shared_.options.decorate(*arrival.request, headers);
  return headers;
}

void Connection::finish(const Arrival& arrival, int status) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - arrival.started).count();
  const Request& request = *arrival.request;
  const std::string_view route = request.route.empty() ? std::string_view("none") : std::string_view(request.route);
  shared_.metrics.count_request(route, arrival.method, status, seconds);
  if (!log_enabled(LogLevel::kInfo, "http")) return;
  log(LogLevel::kInfo, "http", "request",
      {{"method", arrival.method},
       {"route", route},
       {"status", status},
       {"duration_ms", seconds * 1e3},
       {"request_id", request.request_id},
       {"trace_id", request.trace.trace_id},
       {"span_id", request.trace.span_id}});
}

Task<bool> Connection::write_all(std::string_view bytes) {
  if (stopped_) co_return false;
  watchdog_.arm(shared_.options.write_deadline);
  bool ok = true;
  while (ok && !bytes.empty()) {
    auto [error, size] = co_await socket_.async_write_some(asio::buffer(bytes.data(), bytes.size()), kAwait);
    bytes.remove_prefix(size);
    // A deadline that passes between two writes finds nothing to cancel.
    ok = !error && (bytes.empty() || !watchdog_.fired());
  }
  watchdog_.disarm();
  co_return ok;
}

/// Consumes from `bytes` what the kernel accepts without waiting, nearly always everything, which saves a turn of the event loop. Only for
/// writers that await something else in between; others would monopolize the thread. False if the connection is broken.
bool Connection::write_at_once(std::string_view& bytes) {
  if (stopped_) return false;
  SystemError error;
  bytes.remove_prefix(socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error));
  return !error || error == asio::error::would_block;
}

/// Writes, counts and logs one plain response. False if it could not be sent.
Task<bool> Connection::write_response(const Arrival& arrival, Response response) {
  if (response.status < 200 || response.status > 599) {
    log(LogLevel::kError, "http", "a handler returned an invalid status", {{"route", arrival.request->route}, {"status", response.status}});
    response = render_refusal(shared_.options, {500, {ErrorCode::kInternal, "internal error", {}}, {}});
  }
  HeadOptions head_options;
  head_options.framing = has_no_body(response.status) ? Framing::kNone : Framing::kLength;
  head_options.content_length = response.body.size();
  head_options.keep_alive = arrival.keep_alive;
  const Headers headers = final_headers(arrival, std::move(response.headers));
  std::string head = render_response_head(response.status, headers, head_options);
  std::string_view body = response.body;
  if (has_no_body(response.status) || arrival.request->method == Method::kHead) body = {};
  const std::size_t first = std::min(body.size(), kWriteSliceBytes);
  head += body.substr(0, first);
  std::string_view rest = head;
  bool ok = write_at_once(rest);
  if (ok && !rest.empty()) ok = co_await write_all(rest);
  for (std::size_t at = first; ok && at < body.size(); at += kWriteSliceBytes) {
    ok = co_await write_all(body.substr(at, kWriteSliceBytes));
  }
  finish(arrival, ok ? response.status : 499);
  co_return ok;
}

Task<void> Connection::linger() {
  if (stopped_) co_return;
  SystemError ignored;
  (void)socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  watchdog_.arm(std::min(kLingerTime, shared_.options.write_deadline));
  std::size_t dropped = 0;
  while (dropped < kLingerBytesMax) {
    dropped += buffer_.size();
    buffer_.clear();
    if (co_await fill(kSseWriteBytes) != Read::kData) break;
  }
}

Task<Connection::Next> Connection::answer_refusal(Arrival arrival, Refusal refusal) {
  arrival.keep_alive = false;
  co_await write_response(arrival, render(arrival, refusal));
  co_await linger();
  co_return Next::kClose;
}

/// Answers a request that needs no handler. Its body may still be arriving.
Task<Connection::Next> Connection::answer_early(RequestParser& parser, Arrival arrival) {
  if (!parser.is_done()) {
    const auto length = parser.content_length();
    if (arrival.expects_continue || !length || *length > kDiscardBytesMax) arrival.keep_alive = false;
    if (arrival.keep_alive) arrival.keep_alive = (co_await read_body(parser, kDiscardBytesMax, arrival.body_bytes)).has_value();
    watchdog_.disarm();
  }
  Response response = *std::move(arrival.early);
  const bool ok = co_await write_response(arrival, std::move(response));
  if (ok && arrival.keep_alive) co_return Next::kKeepAlive;
  co_await linger();
  co_return Next::kClose;
}

Task<Connection::Next> Connection::answer_inline(Arrival arrival) {
  const Route& route = *arrival.match->route;
  const CallContext call = call_of(*arrival.request, arrival.started + route.timeout);
  std::expected<Response, HandlerFailure> response;
  {
    const GaugeHold running(shared_.metrics.handlers_running);
    response = call_handler(std::get<Handler>(route.handler), *arrival.request, call);
  }
  if (!response) response = render_refusal(shared_.options, refusal_of(response.error()));
  const bool ok = co_await write_response(arrival, *std::move(response));
  co_return ok&& arrival.keep_alive ? Next::kKeepAlive : Next::kClose;
}

Task<Connection::Next> Connection::answer_on_worker(Arrival arrival) {
  const Route& route = *arrival.match->route;
  std::function<void()> wake = [weak = weak_from_this(), executor = socket_.get_executor()] {
    // Posting allocates memory. If it failed for good, the answer would never be sent, so retry.
    for (int tries = 0; tries < kWakeTriesMax; ++tries) {
      const bool posted = contained("http", "waking a connection", [&] {
        asio::post(executor, [weak] {
          if (const auto self = weak.lock()) self->wake_.cancel();
        });
      });
      if (posted) return;
      std::this_thread::sleep_for(kWakePause);
    }
  };
  CallContext call = call_of(*arrival.request, std::chrono::steady_clock::now() + route.timeout);
  const auto exchange = std::make_shared<Exchange>(arrival.request, std::move(call), 2 * shared_.options.write_deadline, std::move(wake));
  Gauge& running = shared_.metrics.handlers_running;
  const TaskKind kind = route.lane == Lane::kWaitingWorker ? TaskKind::kWaits : TaskKind::kWorks;
  const auto ticket = shared_.workers.submit([exchange, &route, &running] { exchange->run(route, running); }, route.pattern, kind);
  if (!ticket) {
    shared_.metrics.queue_rejected.add();
    co_return co_await refuse_busy(std::move(arrival), ticket.error().retry_after);
  }
  watch_client(exchange);
  switch (co_await wait_in_queue(*exchange, *ticket)) {
    case Queued::kLeft: break;
    case Queued::kTooLong:
      unwatch_client();
      shared_.metrics.queue_expired.add();
      co_return co_await refuse_busy(std::move(arrival), shared_.workers.retry_after());
    case Queued::kClientGone:
      unwatch_client();
      finish(arrival, 499);
      co_return Next::kClose;
  }
  co_await wait_for(*exchange, Until::kOutput);
  if (exchange->take(0).started) co_return co_await stream_answer(exchange, arrival);
  if (auto relayed = exchange->take_relayed()) co_return co_await relayed_answer(exchange, arrival, *std::move(relayed));
  unwatch_client();
  co_return co_await plain_answer(*exchange, arrival);
}

/// Handles a request that was answered without a stream, or not at all.
Task<Connection::Next> Connection::plain_answer(Exchange& exchange, const Arrival& arrival) {
  std::optional<Response> response = exchange.take_reply();
  if (!response && exchange.is_closed()) {
    finish(arrival, 499);
    co_return Next::kClose;
  }
  if (!response) response = render_refusal(shared_.options, refusal_of(exchange.failure().value_or(HandlerFailure::kOther)));
  const bool ok = co_await write_response(arrival, *std::move(response));
  co_return ok&& arrival.keep_alive && !shared_.draining ? Next::kKeepAlive : Next::kClose;
}

Task<Connection::Next> Connection::refuse_busy(Arrival arrival, std::chrono::seconds retry_after) {
  Refusal refusal = refuse(503, ErrorCode::kResourceExhausted, fmt::format("the server is busy; try again in {} s", retry_after.count()));
  refusal.headers.set("retry-after", std::to_string(retry_after.count()));
  const bool written = co_await write_response(arrival, render(arrival, refusal));
  co_return written&& arrival.keep_alive ? Next::kKeepAlive : Next::kClose;
}

/// Waits until the handler has output, at most as long as a request may wait for a worker. A task still queued then, or when its client
/// disconnects, will not run.
Task<Connection::Queued> Connection::wait_in_queue(Exchange& exchange, WorkerPool::Ticket ticket) {
  const auto deadline = std::chrono::steady_clock::now() + shared_.options.queue_wait_max;
  while (true) {
    const Exchange::Output output = exchange.take(0);
    if (output.finished || output.started) co_return Queued::kLeft;
    const bool client_gone = exchange.is_closed();
    if (client_gone || std::chrono::steady_clock::now() >= deadline) {
      if (!shared_.workers.cancel(ticket)) co_return Queued::kLeft;
      co_return client_gone ? Queued::kClientGone : Queued::kTooLong;
    }
    wake_.expires_at(deadline);
    co_await wake_.async_wait(kAwait);
  }
}

Task<void> Connection::wait_for(Exchange& exchange, Until until) {
  while (true) {
    const Exchange::Output output = exchange.take(0);
    if (output.finished || (until == Until::kOutput && output.started)) co_return;
    wake_.expires_at(kNever);
    co_await wake_.async_wait(kAwait);
  }
}

Connection::Outgoing Connection::begin_stream(Exchange& exchange, const Arrival& arrival) {
  SystemError ignored;
  (void)socket_.set_option(asio::socket_base::send_buffer_size(kSseSendBufferBytes), ignored);
  Exchange::StreamHead stream = exchange.take_stream_head();
  Headers headers;
  if (stream.is_sse)
    headers = {{"content-type", "text/event-stream"}, {"cache-control", "no-cache, no-transform"}, {"x-accel-buffering", "no"}};
  for (const auto& [name, value] : stream.headers) stream.is_sse ? headers.set(name, value) : headers.add(name, value);
  HeadOptions head_options;
  head_options.framing = arrival.http_1_0 ? Framing::kUntilClose : Framing::kChunked;
  head_options.keep_alive = arrival.keep_alive && !arrival.http_1_0;
  return {.head = render_response_head(stream.status, final_headers(arrival, std::move(headers)), head_options),
          .status = stream.status,
          .framing = head_options.framing,
          .keep_alive = head_options.keep_alive,
          .is_sse = stream.is_sse};
}

Task<Connection::Next> Connection::stream_answer(std::shared_ptr<Exchange> exchange, const Arrival& arrival) {
  const GaugeHold open(shared_.metrics.open_streams);
  const Outgoing stream = begin_stream(*exchange, arrival);
  bool ok = co_await write_all(stream.head);
  const bool head_only = arrival.request->method == Method::kHead;
  if (ok && !head_only) ok = co_await pump(*exchange, stream.framing, stream.is_sse);
  // If the watchdog fired, the reader was too slow; any other failure means that the client disconnected.
  if (!ok || head_only) exchange->close(watchdog_.fired() ? ErrorCode::kDeadlineExceeded : ErrorCode::kCancelled);
  SystemError ignored;
  if (!ok) (void)socket_.close(ignored);
  co_await wait_for(*exchange, Until::kReturned);
  unwatch_client();
  finish(arrival, ok ? stream.status : 499);
  co_return ok&& stream.keep_alive && !shared_.draining ? Next::kKeepAlive : Next::kClose;
}

/// Writes the handler's stream until the handler has returned and everything is sent. False if the stream was truncated.
Task<bool> Connection::pump(Exchange& exchange, Framing framing, bool is_sse) {
  const auto framed = [framing](const std::string& bytes) { return framing == Framing::kChunked ? render_chunk(bytes) : bytes; };
  // Write at once only after a wait: a single token usually fits, and needs no turn of the event loop and no timer.
  bool has_waited = false;
  while (true) {
    Exchange::Output output = exchange.take(kSseWriteBytes);
    if (!output.bytes.empty()) {
      const std::size_t size = output.bytes.size();
      const std::string piece = framed(output.bytes);
      std::string_view rest = piece;
      bool ok = !std::exchange(has_waited, false) || write_at_once(rest);
      if (ok && !rest.empty()) ok = co_await write_all(rest);
      exchange.written(size);
      if (!ok) co_return false;
      continue;
    }
    if (output.aborted) co_return false;
    if (output.finished) co_return framing != Framing::kChunked || co_await write_all(kLastChunk);
    if (is_sse) {
      wake_.expires_after(shared_.options.sse_keep_alive);
    } else {
      wake_.expires_at(kNever);
    }
    auto [error] = co_await wake_.async_wait(kAwait);
    has_waited = true;
    if (error || output.mid_frame || !is_sse) continue;
    const std::string piece = framed(std::string(kKeepAliveComment));
    if (!co_await write_all(piece)) co_return false;
  }
}

void Connection::watch_client(std::shared_ptr<Exchange> exchange) {
  watched_ = std::move(exchange);
  auto on_readable = [self = shared_from_this(), watched = watched_.get()](SystemError error) {
    if (!error && self->watched_.get() == watched) self->check_client();
  };
  socket_.async_wait(Tcp::socket::wait_read, asio::bind_cancellation_slot(watch_cancel_.slot(), std::move(on_readable)));
}

void Connection::check_client() {
  switch (peek_at_peer(socket_.native_handle())) {
    case Peer::kQuiet: watch_client(watched_); return;
    case Peer::kGone: {
      const bool streaming = watched_->take(0).started;
      watched_->close(ErrorCode::kCancelled);
      SystemError ignored;
      if (streaming) (void)socket_.cancel(ignored);
      wake_.cancel();
      return;
    }
    case Peer::kSentMore: break;
  }
  recheck_.expires_after(kRecheckTime);
  recheck_.async_wait([self = shared_from_this(), watched = watched_.get()](SystemError error) {
    if (!error && self->watched_.get() == watched) self->check_client();
  });
}

void Connection::unwatch_client() {
  watched_.reset();
  recheck_.cancel();
  watch_cancel_.emit(asio::cancellation_type::terminal);
}

}  // namespace footnote::http
