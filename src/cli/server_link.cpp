#include "cli/server_link.h"

#include "api/door.h"
#include "base/json_view.h"
#include "http/url.h"

namespace footnote::cli {
namespace {

/// Ingest calls embed up to a hundred documents before they answer.
constexpr std::chrono::minutes kSilenceMax{10};

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

}  // namespace

Error error_of_response(int status, std::string_view body) {
  const auto json = parse_json(body);
  if (json) {
    const Json& error = value_at(*json, "error");
    if (!text_at(error, "message").empty()) {
      return {code_of(text_at(error, "code")), std::string(text_at(error, "message")), std::string(text_at(error, "field"))};
    }
  }
  return {ErrorCode::kInternal, fmt::format("the server answered with status {}", status), {}};
}

ServerLink::ServerLink(const std::string& url, const std::string& token, const std::string& workspace)
    : url_(url), headers_{{std::string(api::kWorkspaceHeader), workspace}}, client_({.silence_timeout = kSilenceMax}, metrics_) {
  if (!token.empty()) headers_.set("authorization", "Bearer " + token);
}

Result<Json> ServerLink::send(const CallContext& call, http::Method method, std::string_view path, const Json* body) {
  FOOTNOTE_TRY(const std::string text, fetch(call, method, path, body));
  return parse_json(text);
}

Result<std::string> ServerLink::fetch(const CallContext& call, http::Method method, std::string_view path, const Json* body) {
  http::ClientRequest request{.method = method, .url = http::join_url(url_, path), .headers = headers_, .body = {}};
  if (body != nullptr) {
    request.headers.set("content-type", "application/json");
    request.body = to_text(*body);
  }
  auto response = client_.fetch(call, request);
  if (!response && response.error().code != ErrorCode::kUnavailable) return std::unexpected(std::move(response).error());
  if (!response) {
    return with_context(std::move(response).error(), fmt::format("the server at {} holds the data folder but does not answer", url_));
  }
  if (response->status < 200 || response->status >= 300) return std::unexpected(error_of_response(response->status, response->body));
  return std::move(response->body);
}

}  // namespace footnote::cli
