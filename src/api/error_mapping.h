#pragma once

#include "base/error.h"
#include "http/message.h"

namespace footnote::api {

/// The one place that maps error codes to HTTP statuses. Input that can't be parsed is 400; parsed input with a wrong or unsupported field,
/// which the error names, is 422.
int status_of(const Error& error);

/// The one JSON error envelope: {"error":{"code","message","field"?}}, with Retry-After if a retry helps. The message shown to callers
/// never contains the operator's paths or hosts. If it differs from the error's message, the latter is logged.
std::string shown_message(const Error& error);

http::Response render_error(const Error& error);

/// OpenAI's format: {"error":{"message","type","param","code"}}. Every wrong field is 400.
http::Response render_openai_error(const Error& error);

/// Its parts, for errors in the middle of a stream.
int openai_status(const Error& error);
JsonObject openai_error(const Error& error);
/// Adds Retry-After if the status is retryable and the response has none.
http::Response with_openai_headers(http::Response response);

/// TEI's format: {"error","error_type"}: 413 Validation, 422 Tokenizer, 424 Backend, 429 Overloaded; otherwise our own status.
http::Response render_tei_error(const Error& error);

}  // namespace footnote::api
