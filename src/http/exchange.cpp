#include "http/exchange.h"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "base/contained.h"
#include "base/log.h"

namespace footnote::http {

namespace {

void log_exception(const Request& request, std::string_view what) noexcept {
  contained("http", "logging", [&] {
    log(LogLevel::kError, "http", "a handler threw", {{"route", request.route}, {"request_id", request.request_id}, {"reason", what}});
  });
}

/// Runs `body` and logs exceptions. nullopt if it returned.
template <class Body>
std::optional<HandlerFailure> failure_of(const Request& request, Body&& body) noexcept {
  try {
    body();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    log_exception(request, "out of memory");
    return HandlerFailure::kOutOfMemory;
  } catch (const std::system_error& error) {
    log_exception(request, error.what());
    const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;  // no memory for its stack
    return no_thread ? HandlerFailure::kOutOfMemory : HandlerFailure::kOther;
  } catch (const std::exception& error) {
    log_exception(request, error.what());
  } catch (...) {
    log_exception(request, "not a std::exception");
  }
  return HandlerFailure::kOther;
}

std::unexpected<Error> closed_error(ErrorCode code) {
  return fail(code, "{}", code == ErrorCode::kDeadlineExceeded ? "the client reads too slowly" : "the client disconnected");
}

}  // namespace

std::expected<Response, HandlerFailure> call_handler(const Handler& handler, const Request& request, const CallContext& call) noexcept {
  Response response;
  if (const auto failure = failure_of(request, [&] { response = handler(request, call); })) return std::unexpected(*failure);
  return response;
}

Exchange::Exchange(std::shared_ptr<const Request> request, CallContext call, std::chrono::milliseconds room_deadline,
                   std::function<void()> wake)
    : request_(std::move(request)), call_(std::move(call)), room_deadline_(room_deadline), wake_(std::move(wake)) {
  call_.stop = stop_.get_token();
}

void Exchange::reply(Response response) {
  MutexLock lock(mutex_);
  if (started_ || replied_) {
    log(LogLevel::kError, "http", "a handler answered twice", {{"route", request_->route}});
    return;
  }
  replied_ = true;
  reply_ = std::move(response);
}

bool Exchange::begin(StreamHead head) {
  MutexLock lock(mutex_);
  if (started_ || replied_) {
    log(LogLevel::kError, "http", "a handler answered twice", {{"route", request_->route}});
    return false;
  }
  started_ = true;
  stream_head_ = std::move(head);
  return true;
}

SseWriter& Exchange::start_sse(Headers extra) {
  if (begin({true, 200, std::move(extra)})) wake_();
  return *this;
}

ByteWriter& Exchange::start_bytes(int status, Headers headers) {
  if (begin({false, status, std::move(headers)})) wake_();
  return *this;
}

void Exchange::relay(Client& client, ClientRequest request, std::unique_ptr<Relay> relay) {
  std::optional<ClientRequest> next = std::move(request);
  while (next) {
    Result<AdmittedCall> call = ClientCore::of(client).admit(call_, *std::move(next));
    if (call) {
      MutexLock lock(mutex_);
      relayed_.emplace(*std::move(call), std::move(relay));
      return;
    }
    next = relay->on_end(std::unexpected(std::move(call).error()));
  }
}

void Exchange::cut() {
  MutexLock lock(mutex_);
  aborted_ = true;
}

void Exchange::run(const Route& route, Gauge& running) noexcept {
  const std::optional<HandlerFailure> failed = failure_of(*request_, [&] {
    const GaugeHold hold(running);
    if (call_.stop.stop_requested()) return;  // the client left while the request was queued
    if (const auto* handler = std::get_if<Handler>(&route.handler)) {
      reply((*handler)(*request_, call_));
    } else {
      std::get<StreamHandler>(route.handler)(*request_, call_, *this);
    }
  });
  {
    MutexLock lock(mutex_);
    if (failed) {
      reply_.reset();
      relayed_.reset();
    }
    aborted_ = aborted_ || failed;
    failed_ = failed;
    returned_ = true;
  }
  wake_();
}

Exchange::Output Exchange::take(std::size_t bytes_max) {
  MutexLock lock(mutex_);
  Output out;
  out.started = started_;
  out.bytes = queue_.substr(0, bytes_max);
  queue_.erase(0, out.bytes.size());
  in_flight_ += out.bytes.size();
  out.finished = returned_ && queue_.empty();
  out.aborted = aborted_ || closed_.has_value();
  out.mid_frame = mid_frame_ || !queue_.empty();
  return out;
}

void Exchange::written(std::size_t bytes) {
  {
    MutexLock lock(mutex_);
    in_flight_ -= bytes;
  }
  room_.notify_all();
}

Exchange::StreamHead Exchange::take_stream_head() {
  MutexLock lock(mutex_);
  return std::move(stream_head_);
}

std::optional<Response> Exchange::take_reply() {
  MutexLock lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

std::optional<HandlerFailure> Exchange::failure() {
  MutexLock lock(mutex_);
  return failed_;
}

std::optional<Exchange::Relayed> Exchange::take_relayed() {
  MutexLock lock(mutex_);
  relaying_ = relayed_.has_value();
  return std::exchange(relayed_, std::nullopt);
}

std::optional<std::string> Exchange::take_relayed_bytes() {
  MutexLock lock(mutex_);
  if (!started_) return std::nullopt;
  return std::exchange(queue_, {});
}

void Exchange::close(ErrorCode code) {
  // Stop first: a sender that sees the close then finds its context stopped.
  stop_.request_stop();
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    closed_ = code;
    queue_.clear();
  }
  room_.notify_all();
}

bool Exchange::is_closed() {
  MutexLock lock(mutex_);
  return closed_.has_value();
}

Result<void> Exchange::write(std::string_view frame) {
  MutexLock whole(frame_mutex_);
  std::string_view rest = frame;
  while (!rest.empty()) FOOTNOTE_CHECK(write_piece(rest));
  return {};
}

Result<void> Exchange::write_piece(std::string_view& rest) {
  bool was_empty = false;
  bool was_full = false;
  {
    MutexLock lock(mutex_);
    if (!started_) return fail(ErrorCode::kFailedPrecondition, "the request was already answered without a stream");
    if (relaying_) {
      if (closed_) return closed_error(*closed_);
      queue_ += std::exchange(rest, {});
      return {};
    }
    const bool has_room = wait_for_room(lock);
    if (closed_) return closed_error(*closed_);
    if (has_room) {
      was_empty = queue_.empty();
      const std::size_t size = std::min(rest.size(), kSseQueueBytesMax - queue_.size() - in_flight_);
      queue_ += rest.substr(0, size);
      rest.remove_prefix(size);
      mid_frame_ = !rest.empty();
    } else {
      was_full = true;
    }
  }
  if (was_full) {
    close(ErrorCode::kDeadlineExceeded);
    return closed_error(ErrorCode::kDeadlineExceeded);
  }
  // The connection drains the queue before it waits, so only the first bytes need to wake it.
  if (was_empty) wake_();
  return {};
}

bool Exchange::wait_for_room(MutexLock& lock) {
  const auto deadline = std::chrono::steady_clock::now() + room_deadline_;
  while (!closed_ && queue_.size() + in_flight_ >= kSseQueueBytesMax) {
    if (!room_.wait_until(lock, deadline) && std::chrono::steady_clock::now() >= deadline) return false;
  }
  return true;
}

}  // namespace footnote::http
