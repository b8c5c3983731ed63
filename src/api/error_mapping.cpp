#include "api/error_mapping.h"

#include "base/log.h"

namespace footnote::api {

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument: return error.field.empty() ? 400 : 422;
    case ErrorCode::kUnauthenticated: return 401;
    case ErrorCode::kPermissionDenied: return 403;
    case ErrorCode::kNotFound: return 404;
    case ErrorCode::kAlreadyExists: return 409;
    case ErrorCode::kFailedPrecondition: return 409;
    case ErrorCode::kTooLarge: return 413;
    case ErrorCode::kUnsupported: return error.field.empty() ? 415 : 422;
    case ErrorCode::kResourceExhausted: return 429;
    case ErrorCode::kStorageFull: return 507;
    case ErrorCode::kUnavailable: return 503;
    case ErrorCode::kDeadlineExceeded: return 504;
    case ErrorCode::kCancelled: return 499;
    case ErrorCode::kCorrupted: return 500;
    case ErrorCode::kInternal: return 500;
  }
  return 500;
}

namespace {

http::Response with_retry_after(http::Response response, const Error& error) {
  if (error.code == ErrorCode::kResourceExhausted || error.code == ErrorCode::kUnavailable) response.headers.set("retry-after", "1");
  return response;
}

std::string_view openai_type(int status) {
  if (status == 401) return "authentication_error";
  if (status == 403) return "permission_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

std::string_view tei_type(int status) {
  if (status == 401) return "Unauthenticated";
  if (status == 403) return "PermissionDenied";
  if (status == 422) return "Tokenizer";
  if (status == 424) return "Backend";
  if (status == 429) return "Overloaded";
  return status >= 500 ? "Unhealthy" : "Validation";
}

int tei_status(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInternal:
    case ErrorCode::kCorrupted: return 424;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnsupported:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kStorageFull:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kCancelled: return status_of(error);
  }
  return status_of(error);
}

}  // namespace

std::string shown_message(const Error& error) {
  if (error.public_message.empty()) return error.message;
  log(LogLevel::kWarn, "http", "the caller got a public message instead of this error",
      {{"code", to_string(error.code)}, {"error", error.message}});
  return error.public_message;
}

http::Response render_error(const Error& error) {
  JsonObject body{{"code", to_string(error.code)}, {"message", shown_message(error)}};
  if (!error.field.empty()) body["field"] = error.field;
  return with_retry_after(http::Response::json(status_of(error), JsonObject{{"error", std::move(body)}}), error);
}

int openai_status(const Error& error) {
  const int usual = status_of(error);
  return usual == 422 ? 400 : usual;
}

JsonObject openai_error(const Error& error) {
  JsonObject body{{"message", shown_message(error)},
                  {"type", openai_type(openai_status(error))},
                  {"param", error.field.empty() ? Json(nullptr) : Json(error.field)},
                  {"code", to_string(error.code)}};
  return {{"error", std::move(body)}};
}

http::Response with_openai_headers(http::Response response) {
  const bool helps = response.status == 429 || response.status == 503;
  if (helps && !response.headers.contains("retry-after")) response.headers.set("retry-after", "1");
  return response;
}

http::Response render_openai_error(const Error& error) {
  return with_retry_after(http::Response::json(openai_status(error), openai_error(error)), error);
}

http::Response render_tei_error(const Error& error) {
  const int status = tei_status(error);
  return with_retry_after(http::Response::json(status, JsonObject{{"error", shown_message(error)}, {"error_type", tei_type(status)}}),
                          error);
}

}  // namespace footnote::api
