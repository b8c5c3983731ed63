#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace footnote::sql {

/// Turns one of SQLite's (extended) result codes into an Error whose message says what to do.
///   FULL                        kStorageFull           NOMEM                  kResourceExhausted
///   CORRUPT, NOTADB, IOERR_DATA kCorrupted             TOOBIG                 kTooLarge
///   BUSY, LOCKED, other IOERR   kUnavailable           INTERRUPT              kCancelled
///   CANTOPEN                    kUnavailable           CONSTRAINT_UNIQUE ...  kAlreadyExists
///   READONLY, PERM, AUTH        kPermissionDenied      CONSTRAINT_FOREIGNKEY  kFailedPrecondition
///   everything else             kInternal
/// `detail` is SQLite's own sentence; it names tables and columns, never stored values.
Error make_error(int extended_code, std::string_view detail, const std::filesystem::path& file);

/// True for the codes that say "bytes may not have reached the disk though they were asked to".
bool is_sync_failure(int extended_code);

}  // namespace footnote::sql
