#include "cli/link.h"

#include "api/authentication.h"
#include "base/json_view.h"
#include "http/sse_parser.h"
#include "http/url.h"

namespace footnote::cli {
namespace {

/// A batch of documents is embedded before its response starts.
constexpr std::chrono::minutes kSilenceMax{10};
/// The last event of some streams.
constexpr std::string_view kStreamEnd = "[DONE]";

constexpr ErrorCode kCodes[] = {
    ErrorCode::kInvalidArgument,   ErrorCode::kUnauthenticated,    ErrorCode::kPermissionDenied, ErrorCode::kNotFound,
    ErrorCode::kAlreadyExists,     ErrorCode::kFailedPrecondition, ErrorCode::kTooLarge,         ErrorCode::kUnsupported,
    ErrorCode::kResourceExhausted, ErrorCode::kStorageFull,        ErrorCode::kUnavailable,      ErrorCode::kDeadlineExceeded,
    ErrorCode::kCancelled,         ErrorCode::kCorrupted,          ErrorCode::kInternal,
};

ErrorCode code_of(std::string_view name) {
  for (const ErrorCode code : kCodes) {
    if (to_string(code) == name) return code;
  }
  return ErrorCode::kInternal;
}

bool is_good(int status) { return status >= 200 && status < 300; }

/// Converts an error envelope (code, message, field) to an Error.
Result<void> check_envelope(const Json& answer) {
  const Json& error = value_at(answer, "error");
  if (text_at(error, "message").empty()) return {};
  return std::unexpected(
      Error{code_of(text_at(error, "code")), std::string(text_at(error, "message")), std::string(text_at(error, "field"))});
}

/// The Error of a response: its envelope, or the status if there is none.
std::unexpected<Error> error_of_response(int status, std::string_view body) {
  if (const auto json = parse_json(body)) {
    if (auto checked = check_envelope(*json); !checked) return std::unexpected(std::move(checked).error());
  }
  return fail(ErrorCode::kInternal, "the answer has status {}", status);
}

http::Headers headers_of(const LinkCaller& caller) {
  http::Headers out{{std::string(api::kWorkspaceHeader), caller.workspace}};
  if (!caller.token.empty()) out.set("authorization", "Bearer " + caller.token);
  return out;
}

}  // namespace

Result<std::string> Link::fetch(const CallContext& call, http::Method method, std::string_view target, const Json* body) {
  std::string out;
  FOOTNOTE_CHECK(exchange(call, method, target, body, [&](std::string_view bytes) -> Result<void> {
    out += bytes;
    return {};
  }));
  return out;
}

Result<Json> Link::send(const CallContext& call, http::Method method, std::string_view target, const Json* body) {
  FOOTNOTE_TRY(const std::string text, fetch(call, method, target, body));
  return parse_json(text);
}

Result<void> Link::stream(const CallContext& call, std::string_view target, const Json& body, const OnEvent& on_event) {
  http::SseParser parser;
  return exchange(call, http::Method::kPost, target, &body, [&](std::string_view bytes) -> Result<void> {
    FOOTNOTE_TRY(const auto events, parser.feed(bytes));
    for (const http::SseEvent& event : events) {
      if (event.data == kStreamEnd) continue;
      FOOTNOTE_TRY(const Json json, parse_json(event.data));
      FOOTNOTE_CHECK(check_envelope(json));
      FOOTNOTE_CHECK(on_event(json));
    }
    return {};
  });
}

ServerLink::ServerLink(std::string url, const LinkCaller& caller)
    : url_(std::move(url)), headers_(headers_of(caller)), client_({.silence_timeout = kSilenceMax}, metrics_) {}

Result<void> ServerLink::exchange(const CallContext& call, http::Method method, std::string_view target, const Json* body,
                                  const OnBody& on_body) {
  http::ClientRequest request{.method = method, .url = http::join_url(url_, target), .headers = headers_, .body = {}};
  if (body != nullptr) {
    request.headers.set("content-type", "application/json");
    request.body = to_text(*body);
  }
  int status = 0;
  std::string refusal;
  const auto on_head = [&](int value, const http::Headers&) -> Result<void> {
    status = value;
    return {};
  };
  const auto on_bytes = [&](std::string_view bytes) -> Result<void> {
    if (is_good(status)) return on_body(bytes);
    refusal += bytes;
    return {};
  };
  auto done = client_.stream(call, request, on_head, on_bytes);
  if (!done && done.error().code == ErrorCode::kUnavailable && status == 0) {
    return with_context(std::move(done).error(), fmt::format("the server at {} holds the data folder but does not answer", url_));
  }
  if (!done) return std::unexpected(std::move(done).error());
  return is_good(status) ? Result<void>{} : error_of_response(status, refusal);
}

Result<std::unique_ptr<RouterLink>> RouterLink::open(std::vector<http::Route> routes, const LinkCaller& caller,
                                                     std::shared_ptr<void> parts) {
  FOOTNOTE_TRY(auto router, http::Router::build(std::move(routes)));
  return std::unique_ptr<RouterLink>(new RouterLink(std::move(router), caller, std::move(parts)));
}

RouterLink::RouterLink(http::Router router, const LinkCaller& caller, std::shared_ptr<void> parts)
    : parts_(std::move(parts)), router_(std::move(router)), headers_(headers_of(caller)) {}

Result<void> RouterLink::exchange(const CallContext& call, http::Method method, std::string_view target, const Json* body,
                                  const OnBody& on_body) {
  const std::string_view path = target.substr(0, target.find('?'));
  FOOTNOTE_TRY(auto match, router_.match(method, path));
  if (match.route == nullptr) return fail(ErrorCode::kNotFound, "there is no route {} {}", http::to_string(method), path);
  http::Request request;
  request.method = method;
  request.path = path;
  request.path_params = std::move(match.path_params);
  request.route = match.route->pattern;
  if (path.size() < target.size()) {
    FOOTNOTE_TRY(request.query, http::parse_query(target.substr(path.size() + 1)));
  }
  request.headers = headers_;
  if (body != nullptr) request.body = to_text(*body);
  if (match.route->admit) {
    if (const auto refused = match.route->admit(request)) return error_of_response(refused->status, refused->body);
  }
  http::Response response;
  Result<void> received;
  if (const auto* handler = std::get_if<http::Handler>(&match.route->handler)) {
    response = (*handler)(request, call);
  } else {
    http::RecordedStream stream([&](std::string_view bytes) {
      if (received) received = on_body(bytes);
      return received;
    });
    std::get<http::StreamHandler>(match.route->handler)(request, call, stream);
    response = stream.response();
  }
  if (!is_good(response.status)) return error_of_response(response.status, response.body);
  return response.body.empty() ? received : on_body(response.body);
}

}  // namespace footnote::cli
