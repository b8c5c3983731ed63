#include "http/client.h"

#include <exception>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/log.h"
#include "base/mutex.h"
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

/// The request as it goes out: fields that frame it are ours alone.
ClientRequest outgoing(const ClientRequest& request, const CallContext& context) {
  ClientRequest out = request;
  for (const std::string_view name : {"host", "content-length", "transfer-encoding", "connection"}) out.headers.remove(name);
  if (context.trace && !out.headers.contains("traceparent")) out.headers.set("traceparent", to_traceparent(context.trace));
  return out;
}

/// Runs a callback of the caller, whose exceptions must not unwind past a call that is under way.
template <class Callback>
Result<void> guarded(Callback&& callback) {
  try {
    return callback();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "a consumer of the answer threw: {}", error.what());
  }
}

}  // namespace

class Client::Impl {
 public:
  Impl(ClientOptions options, Metrics& metrics)
      : metrics_(metrics),
        calls_open_(metrics.gauge("footnote_upstream_calls_open", "Calls to upstreams that are under way")),
        breaker_(options.breaker),
        shared_(std::move(options)),
        work_(asio::make_work_guard(shared_.io)),
        thread_([this] { run_io(); }) {}

  ~Impl() {
    shared_.io.stop();
    thread_.join();
  }

  Result<int> stream(const CallContext& context, const ClientRequest& request, const OnHead& on_head, const OnBody& on_body) {
    FOOTNOTE_TRY(Url url, parse_url(request.url));
    FOOTNOTE_CHECK(check_headers(request.headers));
    if (url.scheme == Scheme::kHttps) FOOTNOTE_CHECK(tls_ready());
    FOOTNOTE_CHECK(context.check());
    const std::string peer = url.authority();
    FOOTNOTE_CHECK(breaker_.admit(peer, std::chrono::steady_clock::now()));
    const GaugeHold open(calls_open_);
    auto call = std::make_shared<ClientCall>(shared_, outgoing(request, context), std::move(url), context.deadline);
    call->start();
    int status = 0;
    Ended ended;
    {
      const std::stop_callback on_stop(context.stop, [&call] { call->cancel({ErrorCode::kCancelled, "the caller went away", {}}); });
      ended = consume(*call, on_head, on_body, status);
    }
    asio::post(shared_.io, [last = std::move(call)] {});
    breaker_.ended(peer, outcome_of(status, ended), std::chrono::steady_clock::now());
    count(status, ended.result);
    if (!ended.result) return std::unexpected(std::move(ended.result).error());
    return status;
  }

 private:
  struct Ended {
    Result<void> result;
    bool broke = false;  ///< The error is the connection's, not the consumer's.
  };

  /// What a call says of its peer. A 500 may be about one request; these say that whoever answers is not there.
  static CircuitBreaker::Outcome outcome_of(int status, const Ended& ended) {
    using Outcome = CircuitBreaker::Outcome;
    if (status == 502 || status == 503 || status == 504) return Outcome::kFailed;
    if (ended.broke && ended.result.error().code == ErrorCode::kUnavailable) return Outcome::kFailed;
    return status == 0 ? Outcome::kUnknown : Outcome::kGood;
  }

  void run_io() {
    while (!shared_.io.stopped()) {
      try {
        shared_.io.run();
      } catch (const std::exception& error) {
        log(LogLevel::kError, "http", "an upstream call failed", {{"reason", error.what()}});
      }
    }
  }

  /// Reading the system's certificates takes 60 ms: it waits for the first call that needs them.
  Result<void> tls_ready() {
    MutexLock lock(tls_mutex_);
    if (!tls_ready_) tls_ready_ = set_up_tls(shared_.tls, shared_.options.ca_file);
    return *tls_ready_;
  }

  /// A status that says no is counted as such, whatever the caller made of it; a good one whose body broke off is not.
  void count(int status, const Result<void>& ended) {
    const bool refused = status >= 300;
    const std::string code = ended || refused ? std::to_string(status) : std::string(to_string(ended.error().code));
    metrics_
        .counter("footnote_upstream_requests_total", "Calls to upstreams by status, or by error where no whole answer came",
                 {{"provider", shared_.options.name}, {"code", code}})
        .add();
  }

  /// Feeds the callbacks until the call has ended, also when one of them failed: the socket is closed on return.
  /// `status` is set when there is a head.
  static Ended consume(ClientCall& call, const OnHead& on_head, const OnBody& on_body, int& status) {
    Result<void> consumed;
    while (true) {
      const ClientCall::Output output = call.next();
      if (output.head) {
        status = output.status;
        if (consumed && on_head) consumed = guarded([&] { return on_head(status, output.headers); });
        if (!consumed) call.cancel(consumed.error());
      }
      if (!output.bytes.empty() && consumed) {
        if (on_body) consumed = guarded([&] { return on_body(output.bytes); });
        if (!consumed) call.cancel(consumed.error());
      }
      if (!output.finished) continue;
      if (!consumed) return {consumed};
      if (output.error) return {std::unexpected(*output.error), true};
      return {};
    }
  }

  Metrics& metrics_;
  Gauge& calls_open_;
  CircuitBreaker breaker_;
  ClientShared shared_;
  Mutex tls_mutex_;
  std::optional<Result<void>> tls_ready_ FOOTNOTE_TSA(guarded_by(tls_mutex_));
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

Client::Client(ClientOptions options, Metrics& metrics) : impl_(std::make_unique<Impl>(std::move(options), metrics)) {}
Client::~Client() = default;

Result<int> Client::stream(const CallContext& call, const ClientRequest& request, OnHead on_head, OnBody on_body) {
  return impl_->stream(call, request, on_head, on_body);
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
  FOOTNOTE_CHECK(impl_->stream(call, request, on_head, on_body));
  return response;
}

}  // namespace footnote::http
