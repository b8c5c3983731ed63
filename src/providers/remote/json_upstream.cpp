#include "providers/remote/json_upstream.h"

#include <random>

#include "base/log.h"
#include "base/mutex.h"
#include "base/text.h"
#include "http/url.h"

namespace footnote {
namespace {

using std::chrono::milliseconds, std::chrono::steady_clock;

std::optional<std::int64_t> whole_number(std::string_view text) {
  constexpr std::int64_t kMax = 1'000'000'000;
  const auto number = parse_whole_number(text);
  return number && *number >= 0 && *number <= kMax ? number : std::nullopt;
}

/// Random between half and all of `wait`, so that clients that failed together do not retry together.
milliseconds jittered(milliseconds wait) {
  std::random_device source;
  return milliseconds{std::uniform_int_distribution<std::int64_t>(wait.count() / 2, wait.count())(source)};
}

Result<void> sleep_until(const CallContext& call, steady_clock::time_point until) {
  Mutex mutex;
  CondVar changed;
  const std::stop_callback wake(call.stop, [&] {
    MutexLock lock(mutex);
    changed.notify_all();
  });
  MutexLock lock(mutex);
  while (!call.stop.stop_requested() && steady_clock::now() < until) changed.wait_until(lock, until);
  return call.check();
}

}  // namespace

/// Why an attempt failed, whether to retry, and the wait requested by the server.
struct JsonUpstream::Failure {
  Error error;
  bool worth_a_retry = false;
  std::optional<milliseconds> wait = {};
};

std::optional<milliseconds> retry_after_of(const http::Headers& headers) {
  if (const auto text = headers.find("retry-after-ms")) {
    if (const auto number = whole_number(*text)) return milliseconds{*number};
  }
  if (const auto text = headers.find("retry-after")) {
    if (const auto number = whole_number(*text)) return std::chrono::seconds{*number};
  }
  return std::nullopt;
}

std::unexpected<Error> JsonUpstream::malformed(std::string_view what) const {
  return fail(ErrorCode::kUnavailable, "{} sent an unusable response: {}", options_.name, what);
}

JsonUpstream::Failure JsonUpstream::refused(int status, const http::Headers& headers) const {
  const auto unavailable = [&](std::string message, bool worth_a_retry) {
    return Failure{{ErrorCode::kUnavailable, std::move(message), {}}, worth_a_retry, retry_after_of(headers)};
  };
  if (status == 401 || status == 403) return unavailable(fmt::format("{} rejected our key: check {}", name(), setting("KEY")), false);
  if (status == 404) {
    return unavailable(fmt::format("{} does not know the model or path: check {} and {}", name(), setting("MODEL"), setting("URL")), false);
  }
  if (status == 413) return {{ErrorCode::kTooLarge, fmt::format("{} rejected the texts as too large", name()), {}}};
  if (status == 429) {
    return {{ErrorCode::kResourceExhausted, fmt::format("{} has reached its rate limit; try again in a moment", name()), {}},
            true,
            retry_after_of(headers)};
  }
  if (status == 408 || status >= 500) return unavailable(fmt::format("{} failed (status {})", name(), status), true);
  return unavailable(fmt::format("{} rejected the request (status {})", name(), status), false);
}

JsonUpstream::Failure JsonUpstream::failed_call(const CallContext& call, Error error) const {
  if (error.code == ErrorCode::kDeadlineExceeded && call.check()) {
    return {{ErrorCode::kUnavailable,
             fmt::format("{} did not answer within {} ms ({} sets that time)", name(), options_.timeout.count(), setting("TIMEOUT")),
             {}},
            true};
  }
  const bool unreachable = error.code == ErrorCode::kUnavailable;
  if (unreachable) error = with_context(std::move(error), fmt::format("{} does not answer (check {})", name(), setting("URL"))).error();
  if (error.code == ErrorCode::kInvalidArgument) {
    error = {ErrorCode::kFailedPrecondition,
             fmt::format("{} can't be called (check {}): {}", name(), setting("URL"), error.message),
             {},
             fmt::format("{} can't be called", name())};
  }
  return {std::move(error), unreachable};
}

std::expected<Json, JsonUpstream::Failure> JsonUpstream::attempt(const CallContext& call, const http::ClientRequest& request) const {
  auto response = client_.fetch(call.narrowed(options_.timeout), request);
  if (!response) return std::unexpected(failed_call(call, std::move(response).error()));
  if (response->status != 200) return std::unexpected(refused(response->status, response->headers));
  auto json = parse_json(response->body);
  if (!json) return std::unexpected(Failure{malformed("it is not JSON").error()});
  return *std::move(json);
}

Result<Json> JsonUpstream::ask(const CallContext& call, http::ClientRequest request) const {
  if (!options_.key.empty()) request.headers.set("authorization", "Bearer " + options_.key);
  if (!call.request_id.empty()) request.headers.set("x-request-id", call.request_id);
  const RetryPolicy& policy = options_.retry;
  milliseconds wait = policy.first_wait;
  for (int tried = 1;; ++tried) {
    auto answer = attempt(call, request);
    if (answer) return *std::move(answer);
    Failure& failure = answer.error();
    const milliseconds pause = std::max(failure.wait.value_or(milliseconds{0}), jittered(wait));
    const bool worth_waiting = pause <= policy.retry_after_max && steady_clock::now() + pause < call.deadline;
    if (!failure.worth_a_retry || tried >= policy.attempts_max || !worth_waiting) return std::unexpected(std::move(failure.error));
    log(LogLevel::kInfo, "http", "retrying an upstream", call,
        {{"upstream", options_.settings}, {"reason", to_string(failure.error.code)}, {"attempt", tried}, {"wait_ms", pause.count()}});
    FOOTNOTE_CHECK(sleep_until(call, steady_clock::now() + pause));
    wait = std::min(wait * 2, policy.wait_max);
  }
}

Result<Json> JsonUpstream::get(const CallContext& call, std::string_view path) const {
  return ask(call, {.method = http::Method::kGet, .url = http::join_url(options_.base_url, path), .headers = {}, .body = {}});
}

Result<Json> JsonUpstream::post(const CallContext& call, std::string_view path, const Json& body) const {
  return ask(call, {.method = http::Method::kPost,
                    .url = http::join_url(options_.base_url, path),
                    .headers = {{"content-type", "application/json"}, {"accept", "application/json"}},
                    .body = to_text(body)});
}

}  // namespace footnote
