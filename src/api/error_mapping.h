#pragma once

#include "base/error.h"
#include "http/message.h"

namespace footnote::api {

/// The one place where error codes become HTTP statuses. Input that can't be read at all is 400; input that reads but
/// has a wrong field, or one that can't be served, which the error names, is 422.
int status_of(const Error& error);

/// The one JSON envelope of errors: {"error":{"code","message","field"?}}, with Retry-After where a retry helps.
/// What a caller of the server is told: never a path or a host of the operator's. Where that differs from the message, the message is
/// logged.
std::string shown_message(const Error& error);

http::Response render_error(const Error& error);

/// OpenAI's: {"error":{"message","type","param","code"}}. Every wrong field is 400 there.
http::Response render_openai_error(const Error& error);

/// Its parts, for errors that are told in the midst of a stream.
int openai_status(const Error& error);
JsonObject openai_error(const Error& error);
/// Retry-After where the status says that a retry helps and the answer does not say when.
http::Response with_openai_headers(http::Response response);

/// TEI's: {"error","error_type"}: 413 Validation, 422 Tokenizer, 424 Backend, 429 Overloaded; else the status that we give.
http::Response render_tei_error(const Error& error);

}  // namespace footnote::api
