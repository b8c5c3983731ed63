#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// The closed set of error codes. Callers branch on the code; people read the message. Only `api/error_mapping.cpp` maps codes to HTTP
/// statuses.
enum class ErrorCode {
  kInvalidArgument,     ///< The caller's input is wrong; the same call will fail again.
  kUnauthenticated,     ///< No credential, or an invalid one.
  kPermissionDenied,    ///< The credential is valid, but not for this.
  kNotFound,            ///< The named thing does not exist for this caller.
  kAlreadyExists,       ///< An object of that name already exists and differs.
  kFailedPrecondition,  ///< The system is not in the state that the call needs; the message names the fix.
  kTooLarge,            ///< Exceeds a named limit.
  kUnsupported,         ///< Understood, but not supported by this build or format.
  kResourceExhausted,   ///< A quota or queue is full; worth a retry later.
  kStorageFull,         ///< The disk is full: reads still work, writes resume once there is space.
  kUnavailable,         ///< A dependency does not respond; worth a retry.
  kDeadlineExceeded,    ///< The deadline passed.
  kCancelled,           ///< The caller cancelled.
  kCorrupted,           ///< Stored bytes fail their checksum; the message names the fix.
  kInternal,            ///< A bug in this program.
};

/// The code's stable name in responses and logs: "invalid_argument".
std::string_view to_string(ErrorCode code);

/// A failure as a value. The message tells the reader what to do next. `field` names the invalid input as the caller spelled it; empty when
/// no input is at fault.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string field;
  /// Sent to callers of the server instead of `message` if `message` names a path or host of the operator's. Empty: send `message`.
  std::string public_message = {};
};

}  // namespace footnote
