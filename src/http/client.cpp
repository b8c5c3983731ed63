#include "http/client.h"

#include <exception>
#include <stop_token>

#include "base/waiting.h"
#include "http/client_call.h"
#include "http/http1.h"

namespace footnote::http {

namespace {

Result<void> check_headers(const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return fail(ErrorCode::kInvalidArgument, "the header '{}' is malformed", name);
    }
  }
  return {};
}

/// The request as sent: framing fields are set only by us.
ClientRequest outgoing(ClientRequest request, const CallContext& context) {
  for (const std::string_view name : {"host", "content-length", "transfer-encoding", "connection"}) request.headers.remove(name);
  if (context.trace && !request.headers.contains("traceparent")) request.headers.set("traceparent", to_traceparent(context.trace));
  return request;
}

/// Runs a caller's callback; its exceptions must not unwind through a call in progress.
template <class Callback>
Result<void> guarded(Callback&& callback) {
  try {
    return callback();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "the response handler threw: {}", error.what());
  }
}

/// What a call's result says about its peer. A 500 may concern only this request; 502, 503 and 504 mean that the service is down.
CircuitBreaker::Outcome outcome_of(const CallEnd& end) {
  using Outcome = CircuitBreaker::Outcome;
  if (end.status >= 500) return Outcome::kFailed;
  if (!end.result && end.broke && end.result.error().code == ErrorCode::kUnavailable) return Outcome::kFailed;
  return end.status == 0 ? Outcome::kUnknown : Outcome::kGood;
}

/// Feeds the callbacks until the call has ended, even if one of them failed: on return the socket is closed.
CallEnd consume(BlockingCall& call, const Client::OnHead& on_head, const Client::OnBody& on_body) {
  Result<void> consumed;
  while (true) {
    BlockingCall::Output output = call.next();
    if (output.head && consumed && on_head) {
      consumed = guarded([&] { return on_head(output.status, output.headers); });
      if (!consumed) call.cancel(consumed.error());
    }
    if (!output.bytes.empty() && consumed && on_body) {
      consumed = guarded([&] { return on_body(output.bytes); });
      if (!consumed) call.cancel(consumed.error());
    }
    if (!output.end) continue;
    if (!consumed) return {output.end->status, consumed, false};
    return *std::move(output.end);
  }
}

}  // namespace

AdmittedCall::AdmittedCall(ClientCore& core, ClientRequest request, Url url)
    : core_(&core), request_(std::move(request)), url_(std::move(url)) {
  core_->calls_open_.add(1);
}

AdmittedCall::AdmittedCall(AdmittedCall&& other) noexcept
    : core_(std::exchange(other.core_, nullptr)), request_(std::move(other.request_)), url_(std::move(other.url_)) {}

AdmittedCall::~AdmittedCall() { end({0, fail(ErrorCode::kCancelled, "the caller cancelled"), false}); }

void AdmittedCall::end(const CallEnd& end) {
  if (core_ == nullptr) return;
  core_->calls_open_.add(-1);
  std::exchange(core_, nullptr)->ended(url_.authority(), end);
}

ClientCore::ClientCore(ClientOptions options, Metrics& metrics)
    : metrics_(metrics),
      calls_open_(metrics.gauge("footnote_upstream_calls_open", "Calls to upstreams in progress")),
      breaker_(options.breaker),
      shared_(std::make_unique<ClientShared>(std::move(options))) {}

ClientCore::~ClientCore() = default;

Result<AdmittedCall> ClientCore::admit(const CallContext& context, ClientRequest request) {
  FOOTNOTE_TRY(Url url, parse_url(request.url));
  FOOTNOTE_CHECK(check_headers(request.headers));
  if (url.scheme == Scheme::kHttps) FOOTNOTE_CHECK(tls_ready());
  FOOTNOTE_CHECK(context.check());
  FOOTNOTE_CHECK(breaker_.admit(url.authority(), std::chrono::steady_clock::now()));
  return AdmittedCall(*this, outgoing(std::move(request), context), std::move(url));
}

/// An error status is counted under its code, whatever the caller did with it. A success status with an incomplete body counts as an error.
void ClientCore::ended(const std::string& peer, const CallEnd& end) {
  breaker_.ended(peer, outcome_of(end), std::chrono::steady_clock::now());
  const bool refused = end.status >= 300;
  const std::string code = end.result || refused ? std::to_string(end.status) : std::string(to_string(end.result.error().code));
  metrics_
      .counter("footnote_upstream_requests_total", "Calls to upstreams by status, or by error if the response was incomplete",
               {{"provider", shared_->options.name}, {"code", code}})
      .add();
}

/// Loading the system's certificates takes 60 ms, so it is deferred to the first call that needs them.
Result<void> ClientCore::tls_ready() {
  MutexLock lock(tls_mutex_);
  if (!tls_ready_) tls_ready_ = set_up_tls(shared_->tls, shared_->options.ca_file);
  return *tls_ready_;
}

Result<int> ClientCore::stream(const CallContext& context, const ClientRequest& request, const Client::OnHead& on_head,
                               const Client::OnBody& on_body) {
  FOOTNOTE_TRY(AdmittedCall admitted, admit(context, request));
  auto call = std::make_shared<BlockingCall>(*shared_, admitted.take_request(), admitted.url(), context.deadline);
  call->start();
  const Waiting waiting;
  CallEnd end;
  {
    const std::stop_callback on_stop(context.stop, [&call] { call->cancel({ErrorCode::kCancelled, "the caller cancelled", {}}); });
    end = consume(*call, on_head, on_body);
  }
  asio::post(shared_->io, [last = std::move(call)] {});
  admitted.end(end);
  if (!end.result) return std::unexpected(std::move(end.result).error());
  return end.status;
}

Client::Client(ClientOptions options, Metrics& metrics) : core_(std::make_unique<ClientCore>(std::move(options), metrics)) {}
Client::~Client() = default;

Result<int> Client::stream(const CallContext& call, const ClientRequest& request, OnHead on_head, OnBody on_body) {
  return core_->stream(call, request, on_head, on_body);
}

Result<Response> Client::fetch(const CallContext& call, const ClientRequest& request) {
  Response response;
  const auto on_head = [&](int status, const Headers& headers) -> Result<void> {
    response.status = status;
    response.headers = headers;
    return {};
  };
  const auto on_body = [&](std::string_view bytes) -> Result<void> {
    response.body += bytes;
    return {};
  };
  FOOTNOTE_CHECK(core_->stream(call, request, on_head, on_body));
  return response;
}

}  // namespace footnote::http
