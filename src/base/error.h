#pragma once

#include <string>
#include <string_view>

namespace footnote {

/// What went wrong, in a closed set. Callers branch on the code; people read the message.
/// `api/error_mapping.cpp` alone turns codes into HTTP statuses.
enum class ErrorCode {
  kInvalidArgument,     ///< The caller's input is wrong; the same call will fail again.
  kUnauthenticated,     ///< No credential, or one that is not valid.
  kPermissionDenied,    ///< A valid credential that does not reach this far.
  kNotFound,            ///< The named thing does not exist for this caller.
  kAlreadyExists,       ///< A thing of that name is there and differs.
  kFailedPrecondition,  ///< The system is not in the state that the call needs; the message names the fix.
  kTooLarge,            ///< Past a named limit.
  kUnsupported,         ///< Understood, but not something this build or format can do.
  kResourceExhausted,   ///< A quota or queue is full; worth a retry later.
  kStorageFull,         ///< The disk is full: reads go on, writes resume once there is room.
  kUnavailable,         ///< A dependency does not answer; worth a retry.
  kDeadlineExceeded,    ///< Time ran out.
  kCancelled,           ///< The caller went away.
  kCorrupted,           ///< Stored bytes fail their check; the message names the fix.
  kInternal,            ///< A defect of ours.
};

/// The code's stable name on the wire and in logs: "invalid_argument".
std::string_view to_string(ErrorCode code);

/// A failure as a value. The message says what to do next; `field` names the input
/// at fault, as the caller spelled it (empty when there is none).
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string field;
};

}  // namespace footnote
