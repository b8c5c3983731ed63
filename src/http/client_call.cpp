#include "http/client_call.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "base/log.h"
#include "http/address_rules.h"
#include "http/http1.h"

namespace footnote::http {

namespace {

constexpr std::size_t kReadBytes = 16 << 10;
constexpr int kInterimResponsesMax = 8;
/// Pause before retrying a failed connect; grows by this much with each further attempt.
constexpr std::chrono::milliseconds kConnectPause{100};

bool is_idempotent(Method method) {
  switch (method) {
    case Method::kGet:
    case Method::kHead:
    case Method::kPut:
    case Method::kDelete:
    case Method::kOptions: return true;
    case Method::kPost:
    case Method::kPatch: return false;
  }
  return false;
}

bool sends_length(const ClientRequest& request) {
  return !request.body.empty() || request.method == Method::kPost || request.method == Method::kPut || request.method == Method::kPatch;
}

std::string render_request(const ClientRequest& request, const Url& url) {
  std::string out = fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\n", to_string(request.method), url.target, url.host_header());
  if (!request.headers.contains("user-agent")) out += "user-agent: footnote\r\n";
  if (sends_length(request)) fmt::format_to(std::back_inserter(out), "content-length: {}\r\n", request.body.size());
  for (const auto& [name, value] : request.headers) fmt::format_to(std::back_inserter(out), "{}: {}\r\n", name, value);
  out += "\r\n";
  // One write for a small request: two would cost the upstream a second read.
  if (request.body.size() <= kReadBytes) out += request.body;
  return out;
}

/// Detaches a socket from Asio, so that Asio gets no events for it, and reattaches it in the destructor.
class ReleasedSocket {
 public:
  explicit ReleasedSocket(Tcp::socket& socket) : socket_(socket) {
    SystemError error;
    protocol_ = socket.local_endpoint(error).protocol();
    if (!error) descriptor_ = socket.release(error);
  }
  /// If Asio can't reattach the socket, its next use reports the error.
  ~ReleasedSocket() {
    SystemError error;
    if (descriptor_ >= 0) socket_.assign(protocol_, descriptor_, error);
    if (error) ::close(descriptor_);
  }
  ReleasedSocket(const ReleasedSocket&) = delete;
  ReleasedSocket& operator=(const ReleasedSocket&) = delete;

  /// Below 0: Asio kept it.
  int descriptor() const { return descriptor_; }

 private:
  Tcp::socket& socket_;
  Tcp protocol_ = Tcp::v4();
  int descriptor_ = -1;
};

std::string pool_key(const Url& url) { return (url.scheme == Scheme::kHttps ? "https://" : "http://") + url.authority(); }

}  // namespace

ClientShared::ClientShared(ClientOptions client_options)
    : options(std::move(client_options)),
      idle(io.get_executor(), options.idle_connections_max, options.idle_time_max),
      work_(asio::make_work_guard(io)),
      thread_([this] { run_io(); }) {}

ClientShared::~ClientShared() {
  io.stop();
  thread_.join();
}

void ClientShared::run_io() {
  while (!io.stopped()) {
    try {
      io.run();
    } catch (const std::exception& error) {
      log(LogLevel::kError, "http", "an upstream call failed", {{"reason", error.what()}});
    }
  }
}

ClientCall::ClientCall(ClientShared& shared, IdleConnections& idle, RelayLoop* loop, const asio::any_io_executor& executor,
                       ClientRequest request, Url url, std::chrono::steady_clock::time_point deadline)
    : shared_(shared),
      idle_(idle),
      loop_(loop),
      executor_(executor),
      request_(std::move(request)),
      url_(std::move(url)),
      pool_key_(pool_key(url_)),
      deadline_(deadline),
      deadline_watch_(executor, [this] { abort({ErrorCode::kDeadlineExceeded, "the deadline passed", {}}); }),
      silence_watch_(executor, [this] { abort(unavailable(too_late_).error()); }),
      pause_(executor),
      buffer_(shared.options.header_bytes_max + 2 * kReadBytes) {}

void ClientCall::abort(Error error) {
  if (!aborted_) aborted_ = std::move(error);
  if (looped_ != nullptr) return loop_->give_back(looped_->id);
  if (transport_) transport_->close();
  pause_.cancel();
  if (sink_ != nullptr) sink_->on_abort();
}

Result<void> ClientCall::from_sink(Result<void> result) {
  sink_failed_ = sink_failed_ || !result;
  return result;
}

std::unexpected<Error> ClientCall::unavailable(std::string_view what) const {
  return with_public_message(fail(ErrorCode::kUnavailable, "{} {}", url_.authority(), what), fmt::format("another server {}", what));
}

Task<CallEnd> ClientCall::run(CallSink& sink) {
  sink_ = &sink;
  Result<void> result;
  try {
    if (deadline_ != kNever) deadline_watch_.arm(deadline_);
    result = co_await attempt(Reuse::kAllowed);
    // A pooled connection may just have been closed by the peer; no response has started, so retrying is safe.
    const bool stale = !result && !aborted_ && reused_ && !answered_;
    if (stale && is_idempotent(request_.method)) result = co_await attempt(Reuse::kFresh);
  } catch (const std::exception& error) {
    result = fail(ErrorCode::kInternal, "the call failed: {}", error.what());
  }
  sink_ = nullptr;
  deadline_watch_.disarm();
  silence_watch_.disarm();
  transport_.reset();
  if (aborted_) co_return CallEnd{status_, std::unexpected(*aborted_), true};
  co_return CallEnd{status_, std::move(result), !sink_failed_};
}

Task<Result<void>> ClientCall::attempt(Reuse reuse) {
  if (aborted_) co_return std::unexpected(*aborted_);
  buffer_.clear();
  transport_ = reuse == Reuse::kAllowed ? idle_.take(pool_key_) : nullptr;
  reused_ = transport_ != nullptr;
  if (!reused_) {
    const Result<void> connected = co_await connect();
    if (!connected) co_return connected;
  }
  const Result<void> sent = co_await send_request();
  if (!sent) co_return sent;
  Result<bool> reusable = co_await read_response();
  if (!reusable) co_return std::unexpected(reusable.error());
  if (*reusable && !aborted_) idle_.put(pool_key_, std::move(transport_));
  co_return Result<void>{};
}

Task<Result<void>> ClientCall::connect() {
  const auto limit = std::chrono::steady_clock::now() + shared_.options.connect_timeout;
  silence_watch_.arm(limit);
  Result<std::vector<Tcp::endpoint>> endpoints = co_await resolve(url_, pause_, limit);
  if (aborted_) co_return std::unexpected(*aborted_);
  if (!endpoints) co_return std::unexpected(endpoints.error());
  if (const Result<void> allowed = check_addresses(*endpoints); !allowed) co_return allowed;
  SystemError error;
  for (int tried = 1;; ++tried) {
    error = co_await connect_any(*endpoints);
    if (!error || aborted_ || tried >= shared_.options.connect_attempts) break;
    pause_.expires_after(tried * kConnectPause);
    co_await pause_.async_wait(kAwait);
    if (aborted_) break;
  }
  if (aborted_) co_return std::unexpected(*aborted_);
  if (error) co_return unavailable(fmt::format("can't be reached: {}", error.message()));
  SystemError ignored;
  transport_->socket().set_option(Tcp::no_delay(true), ignored);
  error = co_await transport_->handshake();
  if (error) co_return unavailable(fmt::format("failed the TLS handshake: {}", error.message()));
  co_return Result<void>{};
}

Result<void> ClientCall::check_addresses(const std::vector<Tcp::endpoint>& endpoints) const {
  if (shared_.options.addresses == Addresses::kAny) return {};
  for (const Tcp::endpoint& endpoint : endpoints) {
    const asio::ip::address address = endpoint.address();
    const bool allowed = address.is_v4() ? is_public_address(address.to_v4().to_bytes()) : is_public_address(address.to_v6().to_bytes());
    if (!allowed) return fail(ErrorCode::kPermissionDenied, "'{}' is not an address of the public internet", url_.host);
  }
  return {};
}

/// Connects to the first endpoint that accepts.
Task<SystemError> ClientCall::connect_any(const std::vector<Tcp::endpoint>& endpoints) {
  SystemError error = asio::error::host_not_found;
  for (const Tcp::endpoint& endpoint : endpoints) {
    transport_ = make_transport(idle_.executor(), shared_.tls, url_);
    std::tie(error) = co_await transport_->socket().async_connect(endpoint, kAwait);
    if (!error || aborted_) break;
  }
  co_return error;
}

Task<Result<void>> ClientCall::send_request() {
  too_late_ = "sent nothing for too long";
  silence_watch_.arm(shared_.options.silence_timeout);
  const std::string head = render_request(request_, url_);
  SystemError error = co_await transport_->write_all(asio::buffer(head));
  if (!error && request_.body.size() > kReadBytes) error = co_await transport_->write_all(asio::buffer(request_.body));
  if (error) co_return unavailable(fmt::format("closed the connection: {}", error.message()));
  co_return Result<void>{};
}

Task<Result<bool>> ClientCall::read_response() {
  std::optional<ResponseParser> parser;
  for (int interim = 0;; ++interim) {
    const Result<void> head = co_await read_head(parser);
    if (!head) co_return std::unexpected(head.error());
    if (parser->get().result_int() / 100 != 1) break;
    if (interim == kInterimResponsesMax) co_return unavailable("sent too many interim responses");
  }
  status_ = static_cast<int>(parser->get().result_int());
  Headers headers;
  for (const auto& field : parser->get()) headers.add(to_view(field.name_string()), to_view(field.value()));
  if (const Result<void> taken = from_sink(sink_->on_head(status_, std::move(headers))); !taken) co_return std::unexpected(taken.error());
  const Result<void> body = co_await read_body(*parser);
  if (!body) co_return std::unexpected(body.error());
  co_return parser->keep_alive() && !parser->need_eof() && buffer_.size() == 0;
}

/// Reads until a whole head is parsed, into a new parser.
Task<Result<void>> ClientCall::read_head(std::optional<ResponseParser>& parser) {
  const std::size_t bytes_max = shared_.options.header_bytes_max;
  parser.emplace();
  parser->header_limit(static_cast<std::uint32_t>(bytes_max + 1));
  parser->body_limit(boost::none);
  parser->eager(false);
  if (request_.method == Method::kHead) parser->skip(true);
  std::size_t taken = 0;
  while (!parser->is_header_done()) {
    SystemError error = beast::http::error::need_more;
    if (buffer_.size() != 0) {
      const std::size_t size = parser->put(buffer_.data(), error);
      buffer_.consume(size);
      taken += size;
    }
    const bool done = parser->is_header_done();
    if (error == beast::http::error::header_limit || taken > bytes_max || (!done && taken + buffer_.size() >= bytes_max)) {
      co_return with_public_message(fail(ErrorCode::kTooLarge, "{} sent headers of more than {} bytes", url_.authority(), bytes_max),
                                    "another server sent too many headers");
    }
    if (!error || done) continue;
    if (error != beast::http::error::need_more) co_return unavailable(fmt::format("sent a malformed response: {}", error.message()));
    bool ended = false;
    const Result<void> read = co_await read_more(ended);
    if (!read) co_return read;
    if (ended) co_return unavailable("closed the connection without a response");
  }
  co_return Result<void>{};
}

Task<Result<void>> ClientCall::read_more(bool& ended) {
  silence_watch_.arm(shared_.options.silence_timeout);
  const auto space = buffer_.prepare(std::min(kReadBytes, buffer_.max_size() - buffer_.size()));
  const auto [error, size] = co_await transport_->read_some(space);
  silence_watch_.disarm();
  buffer_.commit(size);
  answered_ = answered_ || size != 0;
  co_return check_read(error, ended);
}

Result<void> ClientCall::check_read(const SystemError& error, bool& ended) const {
  if (aborted_) return std::unexpected(*aborted_);
  ended = error == asio::error::eof;
  if (error && !ended) return unavailable(fmt::format("broke the connection: {}", error.message()));
  return {};
}

Task<Result<void>> ClientCall::read_body(ResponseParser& parser) {
  parser.eager(true);
  Result<bool> complete = take_buffer(parser);
  int pieces = 0;
  while (complete && !*complete) {
    const Result<void> room = from_sink(co_await sink_->make_room());
    if (aborted_) co_return std::unexpected(*aborted_);
    if (!room) co_return room;
    bool ended = false;
    std::optional<CallSink::Lent> lent;
    if (pieces >= kPiecesBeforeLoop && loop_ != nullptr && transport_->is_plain()) lent = sink_->lend();
    if (lent) {
      complete = co_await read_by_loop(parser, *lent, ended);
      pieces = 0;
    } else {
      const Result<void> read = co_await read_more(ended);
      if (!read) co_return read;
      pieces = buffer_.size() < kReadBytes ? pieces + 1 : 0;
      complete = take_buffer(parser);
    }
    if (!ended || !complete) continue;
    SystemError error;
    parser.put_eof(error);
    if (error) co_return unavailable("closed the connection in the middle of its response");
    break;
  }
  if (!complete) co_return std::unexpected(std::move(complete).error());
  co_return Result<void>{};
}

Result<bool> ClientCall::take_buffer(ResponseParser& parser) {
  asio::const_buffer rest = buffer_.data();
  Result<bool> complete = take_body(parser, rest);
  buffer_.consume(buffer_.size() - rest.size());
  return complete;
}

/// Parses the received bytes and passes the body to the sink. True when the body is complete. Advances `bytes` past what was parsed; the
/// rest must be passed again with more data appended.
Result<bool> ClientCall::take_body(ResponseParser& parser, asio::const_buffer& bytes) {
  while (!parser.is_done()) {
    SystemError error = beast::http::error::need_more;
    if (bytes.size() != 0) bytes += parser.put(bytes, error);
    FOOTNOTE_CHECK(hand_over(parser.get().body()));
    if (parser.is_done()) break;
    if (!error && bytes.size() != 0) continue;
    const bool endless = bytes.size() > shared_.options.header_bytes_max;
    if (endless || (error && error != beast::http::error::need_more)) {
      return unavailable(fmt::format("sent a malformed response: {}", error.message()));
    }
    return false;
  }
  return true;
}

/// Passes the parsed bytes to the sink and clears them.
Result<void> ClientCall::hand_over(std::string& bytes) {
  const std::size_t bytes_max = request_.response_bytes_max.value_or(shared_.options.response_bytes_max);
  if (bytes.size() > bytes_max - body_bytes_) {
    return with_public_message(fail(ErrorCode::kTooLarge, "{} sent more than {} bytes", url_.authority(), bytes_max),
                               "another server sent too large a response");
  }
  body_bytes_ += bytes.size();
  if (bytes.empty()) return {};
  // Do not reuse the buffer for the next piece: with many streams it would be out of the CPU cache, while freshly freed memory is still in
  // it.
  const std::string piece = std::exchange(bytes, {});
  return from_sink(sink_->on_body(piece));
}

/// The relay loop reads and forwards until the body is complete, an error occurs, or the client does not keep up.
Task<Result<bool>> ClientCall::read_by_loop(ResponseParser& parser, CallSink::Lent lent, bool& ended) {
  Looped looped{parser};
  buffer_.shrink_to_fit();
  {
    const ReleasedSocket upstream(transport_->socket());
    if (upstream.descriptor() < 0) {
      sink_->take_back({});
      co_return false;
    }
    looped_ = &looped;
    looped.id = loop_->add(upstream.descriptor(), lent.socket, *this, {shared_.options.silence_timeout, lent.keep_alive_time});
    while (!looped.ended) {
      pause_.expires_at(kNever);
      co_await pause_.async_wait(kAwait);
    }
    looped_ = nullptr;
  }
  sink_->take_back(std::move(looped.ended->unsent));
  if (aborted_) co_return std::unexpected(*aborted_);
  if (!looped.complete || *looped.complete) co_return std::move(looped.complete);
  if (looped.ended->end == RelayLoop::End::kSilent) co_return unavailable(too_late_);
  if (looped.ended->end == RelayLoop::End::kUpstreamEnded) {
    SystemError error = asio::error::eof;
    if (looped.ended->error != 0) error.assign(looped.ended->error, asio::error::get_system_category());
    if (const Result<void> read = check_read(error, ended); !read) co_return std::unexpected(read.error());
  }
  co_return false;
}

bool ClientCall::on_bytes(std::string_view bytes, std::string& output) {
  Looped& looped = *looped_;
  try {
    const asio::const_buffer came(bytes.data(), bytes.size());
    if (!looped.complete) return false;
    if (*looped.complete) {
      // Unsolicited data. One byte is enough to mark the connection as not reusable.
      if (buffer_.size() == 0) keep(asio::buffer(came, 1));
    } else {
      looped.complete = take_in_place(looped.parser, came);
      sink_->take_output(output);
    }
  } catch (const std::exception& error) {
    looped.complete = fail(ErrorCode::kInternal, "the call failed: {}", error.what());
  }
  return looped.complete && !*looped.complete;
}

void ClientCall::on_end(RelayLoop::Ended ended) {
  asio::post(executor_, [this, ended = std::move(ended)]() mutable {
    looped_->ended = std::move(ended);
    pause_.cancel();
  });
}

/// Parses bytes in place, unless earlier bytes are still buffered.
Result<bool> ClientCall::take_in_place(ResponseParser& parser, asio::const_buffer bytes) {
  if (buffer_.size() != 0) {
    keep(bytes);
    return take_buffer(parser);
  }
  Result<bool> complete = take_body(parser, bytes);
  if (bytes.size() != 0) keep(bytes);
  return complete;
}

void ClientCall::keep(asio::const_buffer bytes) { buffer_.commit(asio::buffer_copy(buffer_.prepare(bytes.size()), bytes)); }

BlockingCall::BlockingCall(ClientShared& shared, ClientRequest request, Url url, std::chrono::steady_clock::time_point deadline)
    : shared_(shared),
      room_timer_(shared.io.get_executor()),
      call_(shared, shared.idle, nullptr, shared.io.get_executor(), std::move(request), std::move(url), deadline) {}

void BlockingCall::start() {
  asio::co_spawn(shared_.io, [self = shared_from_this()] { return self->run(); }, asio::detached);
}

BlockingCall::Output BlockingCall::next() {
  MutexLock lock(mutex_);
  in_hand_ = 0;
  if (reader_paused_) {
    reader_paused_ = false;
    asio::post(shared_.io, [self = shared_from_this()] { self->room_timer_.cancel(); });
  }
  while (!output_.head && output_.bytes.empty() && !output_.end) ready_.wait(lock);
  Output out = std::exchange(output_, Output{});
  in_hand_ = out.bytes.size();
  return out;
}

void BlockingCall::cancel(Error error) {
  asio::post(shared_.io, [self = shared_from_this(), error = std::move(error)]() mutable { self->call_.abort(std::move(error)); });
}

Task<void> BlockingCall::run() {
  const auto self = shared_from_this();
  CallEnd end = co_await call_.run(*this);
  {
    MutexLock lock(mutex_);
    output_.end = std::move(end);
  }
  ready_.notify_all();
}

Result<void> BlockingCall::on_head(int status, Headers headers) {
  {
    MutexLock lock(mutex_);
    output_.head = true;
    output_.status = status;
    output_.headers = std::move(headers);
  }
  ready_.notify_all();
  return {};
}

Result<void> BlockingCall::on_body(std::string_view bytes) {
  {
    MutexLock lock(mutex_);
    output_.bytes += bytes;
  }
  ready_.notify_all();
  return {};
}

/// Whether another read fits the limit. If not, the caller's next step ends the wait.
bool BlockingCall::has_room() {
  MutexLock lock(mutex_);
  reader_paused_ = output_.bytes.size() + in_hand_ + kReadBytes > kHandOverBytesMax;
  return !reader_paused_;
}

Task<Result<void>> BlockingCall::make_room() {
  while (!call_.aborted() && !has_room()) {
    room_timer_.expires_at(kNever);
    co_await room_timer_.async_wait(kAwait);
  }
  co_return Result<void>{};
}

}  // namespace footnote::http
