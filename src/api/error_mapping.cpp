#include "api/error_mapping.h"

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
    case ErrorCode::kUnsupported: return 415;
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

http::Response render_error(const Error& error) {
  JsonObject body{{"code", to_string(error.code)}, {"message", error.message}};
  if (!error.field.empty()) body["field"] = error.field;
  http::Response response = http::Response::json(status_of(error), JsonObject{{"error", std::move(body)}});
  if (error.code == ErrorCode::kResourceExhausted || error.code == ErrorCode::kUnavailable) response.headers.set("retry-after", "1");
  return response;
}

}  // namespace footnote::api
