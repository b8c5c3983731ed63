#pragma once

#include "base/error.h"
#include "http/message.h"

namespace footnote::api {

/// The one place where error codes become HTTP statuses. Input that can't be read at all is 400; input that reads but
/// has a wrong field, which the error names, is 422.
int status_of(const Error& error);

/// The one JSON envelope of errors: {"error":{"code","message","field"?}}, with Retry-After where a retry helps.
http::Response render_error(const Error& error);

}  // namespace footnote::api
