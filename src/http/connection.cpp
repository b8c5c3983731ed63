#include "http/connection.h"

#include <algorithm>

#include "base/ids.h"
#include "base/json.h"
#include "base/json_size.h"
#include "base/utf8.h"
#include "http/request_rules.h"
#include "http/url.h"

namespace footnote::http {

namespace {

constexpr std::size_t kHeadReadBytes = 4 << 10;
constexpr std::size_t kBodyReadBytes = 16 << 10;
/// A body that goes to a sink has its deadline again after this many bytes.
constexpr std::size_t kBodyDeadlineBytes = 1 << 20;
constexpr std::size_t kEchoBytesMax = 200;

Refusal too_slow(std::string_view part) {
  return refuse(408, ErrorCode::kDeadlineExceeded, fmt::format("the request's {} arrived too slowly", part));
}

/// Shortens request text that is quoted in an error.
std::string shortened(std::string_view text) {
  const std::string_view start = utf8_prefix(text, kEchoBytesMax);
  return start.size() == text.size() ? std::string(text) : fmt::format("{} ...", start);
}

Refusal out_of_memory() {
  Refusal refusal = refuse(503, ErrorCode::kResourceExhausted, "too many large requests at once; try again in a second");
  refusal.headers.set("retry-after", "1");
  return refusal;
}

Response as_refused(Response response, const Refusal& refusal) {
  response.status = refusal.status;
  for (const auto& [name, value] : refusal.headers) response.headers.set(name, value);
  return response;
}

}  // namespace

Response render_refusal(const ServerOptions& options, const Refusal& refusal) {
  if (options.render_error) return as_refused(options.render_error(refusal.error), refusal);
  const JsonObject error{{"code", to_string(refusal.error.code)}, {"message", refusal.error.message}};
  return as_refused(Response::json(refusal.status, JsonObject{{"error", error}}), refusal);
}

Response Connection::render(const Arrival& arrival, const Refusal& refusal) const {
  const Route* route = arrival.match ? arrival.match->route : nullptr;
  if (route == nullptr || !route->render_error) return render_refusal(shared_.options, refusal);
  return as_refused(route->render_error(*arrival.request, refusal.error), refusal);
}

Connection::Connection(Tcp::socket socket, ServerShared& shared)
    : socket_(std::move(socket)),
      shared_(shared),
      buffer_(shared.options.header_bytes_max + 2 * kBodyReadBytes),
      // Cancelling leaves the socket open, so that a 408 can still be sent.
      watchdog_(socket_.get_executor(),
                [this] {
                  SystemError ignored;
                  (void)socket_.cancel(ignored);
                }),
      wake_(socket_.get_executor()),
      recheck_(socket_.get_executor()) {
  SystemError error;
  (void)socket_.set_option(Tcp::no_delay(true), error);
  (void)socket_.non_blocking(true, error);  // for write_at_once
  if (const auto peer = socket_.remote_endpoint(error); !error) remote_address_ = peer.address().to_string();
}

Task<void> Connection::run() {
  const GaugeHold open(shared_.metrics.connections_open);
  // Not one condition: g++ 12 evaluates past a false `co_await a() && co_await b()`.
  while (!stopped_) {
    if (!co_await await_request()) break;
    if (co_await serve_one() == Next::kClose) break;
  }
  watchdog_.disarm();
  SystemError ignored;
  (void)socket_.close(ignored);
}

void Connection::drain() {
  SystemError ignored;
  if (idle_) (void)socket_.close(ignored);
}

void Connection::give_up() {
  SystemError ignored;
  (void)socket_.close(ignored);
}

void Connection::stop() {
  stopped_ = true;
  if (watched_) watched_->close(ErrorCode::kCancelled);
  SystemError ignored;
  if (lent_) {
    (void)socket_.shutdown(Tcp::socket::shutdown_both, ignored);  // closed when the loop gives it back
  } else {
    (void)socket_.close(ignored);
  }
  wake_.cancel();
}

Task<Connection::Read> Connection::fill(std::size_t bytes) {
  const auto space = buffer_.prepare(std::min(bytes, buffer_.max_size() - buffer_.size()));
  auto [error, size] = co_await socket_.async_read_some(space, kAwait);
  buffer_.commit(size);
  // Also without an error: a deadline that passes after the read has completed finds nothing to cancel.
  if (watchdog_.fired()) co_return Read::kTimeout;
  if (!error) co_return Read::kData;
  co_return error == asio::error::eof ? Read::kEnd : Read::kFailed;
}

/// True when the first bytes of a request have arrived. While it waits, a connection holds no buffer and no parser: there may be thousands
/// of them.
Task<bool> Connection::await_request() {
  if (buffer_.size() != 0) co_return true;
  if (shared_.draining) co_return false;
  buffer_.shrink_to_fit();
  watchdog_.arm(requests_ == 0 ? shared_.options.header_deadline : shared_.options.idle_deadline);
  shared_.connections.begin_idle(*this);
  idle_ = true;
  auto [error] = co_await socket_.async_wait(Tcp::socket::wait_read, kAwait);
  idle_ = false;
  if (error || !shared_.connections.end_idle(*this)) co_return false;
  watchdog_.arm(shared_.options.header_deadline);
  co_return co_await fill(kHeadReadBytes) == Read::kData;
}

Task<Connection::HeadResult> Connection::read_head(RequestParser& parser) {
  const std::size_t bytes_max = shared_.options.header_bytes_max;
  watchdog_.arm(shared_.options.header_deadline);
  std::size_t taken = 0;
  while (true) {
    SystemError error;
    const std::size_t size = parser.put(buffer_.data(), error);
    const bool folded = has_folded_line({static_cast<const char*>(buffer_.data().data()), size});
    buffer_.consume(size);
    taken += size;
    const bool done = !error && parser.is_header_done();
    // Beast limits the request line and the fields separately; our limit covers both together.
    if (error == beast::http::error::header_limit || taken > bytes_max || (!done && taken + buffer_.size() >= bytes_max)) {
      co_return std::unexpected(refuse(431, ErrorCode::kTooLarge, fmt::format("the request's head is longer than {} bytes", bytes_max)));
    }
    if (folded) co_return std::unexpected(malformed("a field continues on a second line"));
    if (done) co_return HeadResult{};
    if (error && error != beast::http::error::need_more) co_return std::unexpected(malformed(error.message()));
    switch (co_await fill(kHeadReadBytes)) {
      case Read::kData: break;
      case Read::kTimeout: co_return std::unexpected(too_slow("head"));
      case Read::kEnd: co_return std::unexpected(malformed("the head is incomplete"));
      case Read::kFailed: co_return std::unexpected(std::nullopt);
    }
  }
}

/// For a body that needs `bytes` with the values made of it.
Refusal Connection::over_budget(std::size_t bytes) const {
  const std::size_t bytes_max = shared_.body_bytes.bytes_max();
  if (bytes <= bytes_max) return out_of_memory();
  return refuse(
      413, ErrorCode::kTooLarge,
      fmt::format("the body needs {} bytes of memory, but all requests together may use only {}; send it in parts", bytes, bytes_max));
}

Task<Connection::HeadResult> Connection::read_body(RequestParser& parser, std::uint64_t bytes_max, ByteBudget::Hold& held) {
  if (parser.is_done()) co_return HeadResult{};
  parser.body_limit(bytes_max);
  parser.eager(true);
  watchdog_.arm(shared_.options.body_deadline);
  std::size_t fed = 0;
  JsonSize size;  // The JSON value that a handler parses from the body lives as long as the body and may be larger.
  while (!parser.is_done()) {
    SystemError error = beast::http::error::need_more;
    if (buffer_.size() != 0) buffer_.consume(parser.put(buffer_.data(), error));
    if (error == asio::error::no_memory) co_return std::unexpected(out_of_memory());
    if (error == beast::http::error::body_limit) {
      co_return std::unexpected(refuse(413, ErrorCode::kTooLarge, fmt::format("the body is longer than {} bytes", bytes_max)));
    }
    const std::string_view body = parser.get().body();
    size.feed(body.substr(std::min(fed, body.size())));
    fed = body.size();
    if (!held.grow_to(body.size())) co_return std::unexpected(over_budget(body.size()));
    if (!error) continue;
    // Only a chunk header or the trailer may be left unparsed.
    const bool endless = buffer_.size() > shared_.options.header_bytes_max;
    if (endless || error != beast::http::error::need_more) co_return std::unexpected(malformed(error.message()));
    switch (co_await fill(kBodyReadBytes)) {
      case Read::kData: break;
      case Read::kTimeout: co_return std::unexpected(too_slow("body"));
      case Read::kEnd: co_return std::unexpected(malformed("the body is incomplete"));
      case Read::kFailed: co_return std::unexpected(std::nullopt);
    }
  }
  if (!held.grow_to(fed + size.tree_bytes())) co_return std::unexpected(over_budget(fed + size.tree_bytes()));
  co_return HeadResult{};
}

/// The whole body may take long; each part of it has the body's deadline.
Task<Connection::HeadResult> Connection::read_body_into(RequestParser& parser, std::uint64_t bytes_max, BodySink& sink) {
  parser.body_limit(bytes_max);
  parser.eager(true);
  watchdog_.arm(shared_.options.body_deadline);
  std::size_t since_armed = 0;
  bool first = true;
  while (first || !parser.is_done()) {
    SystemError error = beast::http::error::need_more;
    if (!parser.is_done() && buffer_.size() != 0) buffer_.consume(parser.put(buffer_.data(), error));
    first = false;
    if (error == asio::error::no_memory) co_return std::unexpected(out_of_memory());
    if (error == beast::http::error::body_limit) {
      co_return std::unexpected(refuse(413, ErrorCode::kTooLarge, fmt::format("the body is longer than {} bytes", bytes_max)));
    }
    std::string& body = parser.get().body();
    if (!body.empty()) {
      if (const auto taken = sink.write(body); !taken) co_return std::unexpected(Refusal{507, taken.error(), {}});
      since_armed += body.size();
      body.clear();
    }
    if (since_armed >= kBodyDeadlineBytes) {
      since_armed = 0;
      watchdog_.arm(shared_.options.body_deadline);
    }
    if (parser.is_done()) break;
    if (!error) continue;
    const bool endless = buffer_.size() > shared_.options.header_bytes_max;
    if (endless || error != beast::http::error::need_more) co_return std::unexpected(malformed(error.message()));
    switch (co_await fill(kBodyReadBytes)) {
      case Read::kData: break;
      case Read::kTimeout: co_return std::unexpected(too_slow("body"));
      case Read::kEnd: co_return std::unexpected(malformed("the body is incomplete"));
      case Read::kFailed: co_return std::unexpected(std::nullopt);
    }
  }
  co_return HeadResult{};
}

Task<Connection::HeadResult> Connection::receive_body(RequestParser& parser, Arrival& arrival) {
  const Route& route = *arrival.match->route;
  if (!route.body_sink) co_return co_await read_body(parser, route.body_bytes_max, arrival.body_bytes);
  auto sink = route.body_sink(*arrival.request);
  if (!sink) co_return std::unexpected(Refusal{503, sink.error(), {}});
  arrival.request->body_sink = *std::move(sink);
  co_return co_await read_body_into(parser, route.body_bytes_max, *arrival.request->body_sink);
}

Connection::Arrival Connection::start_arrival() const {
  Arrival arrival(shared_.body_bytes);
  arrival.started = std::chrono::steady_clock::now();
  arrival.request->remote_address = remote_address_;
  arrival.request->request_id = random_hex128();
  arrival.request->trace = TraceContext::fresh();
  return arrival;
}

/// Fills the request from its head, then finds its route or sets an early response.
void Connection::accept_head(const RequestParser& parser, Arrival& arrival) const {
  Request& request = *arrival.request;
  const auto& head = parser.get();
  for (const auto& field : head) request.headers.add(to_view(field.name_string()), to_view(field.value()));
  if (!shared_.options.trusted_proxies.empty()) {
    request.remote_address = client_address(remote_address_, request.headers, shared_.options.trusted_proxies);
  }
  if (const auto id = request.headers.find("x-request-id"); id && is_request_id(*id)) request.request_id = *id;
  if (const auto caller = caller_trace(request.headers)) request.trace = caller->child();
  arrival.keep_alive = parser.keep_alive() && !shared_.draining && requests_ < kRequestsPerConnectionMax;
  arrival.http_1_0 = head.version() < 11;
  arrival.expects_continue = !arrival.http_1_0 && request.headers.contains("expect") && !parser.is_done();

  const auto early = [&](const Refusal& refusal) { arrival.early = render_refusal(shared_.options, refusal); };
  if (const auto refusal = check_head(request.headers, arrival.http_1_0)) {
    // The end of such a request is ambiguous: what follows must not be read as another request.
    arrival.keep_alive = false;
    return early(*refusal);
  }
  const std::optional<Method> method = parse_method(to_view(head.method_string()));
  if (!method) return early(refuse(501, ErrorCode::kUnsupported, "this method is not supported"));
  request.method = *method;
  arrival.method = to_string(*method);
  const Result<Target> target = parse_target(to_view(head.target()));
  if (!target) return early({400, target.error(), {}});
  if (const auto refusal = settle_host(target->authority, request.headers)) return early(*refusal);
  Result<std::string> path = percent_decode(target->path);
  if (!path) return early({400, path.error(), {}});
  Result<NameValues> query = parse_query(target->query);
  if (!query) return early({400, query.error(), {}});
  request.path = *std::move(path);
  request.query = *std::move(query);
  if (shared_.options.guard) arrival.early = shared_.options.guard(request);
  if (!arrival.early) arrival.early = route_request(parser, arrival, target->path);
}

std::optional<Response> Connection::route_request(const RequestParser& parser, Arrival& arrival, std::string_view path) const {
  const auto refused = [&](const Refusal& refusal) { return render_refusal(shared_.options, refusal); };
  Request& request = *arrival.request;
  Result<RouteMatch> match = shared_.router.match(request.method, path);
  if (!match) return refused({400, match.error(), {}});
  if (match->route == nullptr) {
    if (match->allowed.empty()) return refused(refuse(404, ErrorCode::kNotFound, fmt::format("no route for {}", shortened(request.path))));
    const Headers allow{{"allow", render_allow(match->allowed)}};
    if (request.method == Method::kOptions) return Response{204, allow, {}};
    Refusal refusal = refuse(405, ErrorCode::kUnsupported, fmt::format("{} is not allowed here", to_string(request.method)));
    refusal.headers = allow;
    return refused(refusal);
  }
  request.route = match->route->pattern;
  request.path_params = std::move(match->path_params);
  arrival.match = *std::move(match);
  const std::size_t bytes_max = arrival.match->route->body_bytes_max;
  if (const auto length = parser.content_length(); length && *length > bytes_max) {
    return render(arrival, refuse(413, ErrorCode::kTooLarge, fmt::format("the body is longer than {} bytes", bytes_max)));
  }
  return arrival.match->route->admit ? arrival.match->route->admit(request) : std::nullopt;
}

Task<Connection::Next> Connection::serve_one() {
  RequestParser parser;
  parser.header_limit(static_cast<std::uint32_t>(shared_.options.header_bytes_max + 1));
  parser.body_limit(boost::none);
  parser.eager(false);
  const HeadResult head = co_await read_head(parser);
  watchdog_.disarm();
  if (!head && !head.error()) co_return Next::kClose;
  ++requests_;
  Arrival arrival = start_arrival();
  if (!head) co_return co_await answer_refusal(std::move(arrival), *head.error());
  accept_head(parser, arrival);
  if (arrival.early) co_return co_await answer_early(parser, std::move(arrival));
  if (arrival.expects_continue && buffer_.size() == 0 && !co_await write_all(kContinue)) co_return Next::kClose;
  const HeadResult body = co_await receive_body(parser, arrival);
  watchdog_.disarm();
  if (!body && !body.error()) co_return Next::kClose;
  if (!body) {
    parser.get().body() = std::string();  // the client may take a while to read the answer
    co_return co_await answer_refusal(std::move(arrival), *body.error());
  }
  arrival.request->body = std::move(parser.get().body());
  switch (arrival.match->route->lane) {
    case Lane::kInline: co_return co_await answer_inline(std::move(arrival));
    case Lane::kWorker:
    case Lane::kWaitingWorker: co_return co_await answer_on_worker(std::move(arrival));
  }
  co_return Next::kClose;
}

}  // namespace footnote::http
