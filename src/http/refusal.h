#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "http/message.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

/// An error response of the server itself: rendered by render_error, then given exactly this status and these headers.
struct Refusal {
  int status = 500;
  Error error;
  Headers headers;
};

inline Refusal refuse(int status, ErrorCode code, std::string message) { return {status, Error{code, std::move(message), {}}, {}}; }

inline Refusal malformed(std::string_view reason) {
  return refuse(400, ErrorCode::kInvalidArgument, fmt::format("malformed HTTP request: {}", reason));
}

}  // namespace footnote::http
