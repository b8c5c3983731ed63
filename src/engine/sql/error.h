#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace footnote::sql {

/// Converts an (extended) SQLite result code to an Error whose message says what to do.
///   FULL                        kStorageFull           NOMEM                  kResourceExhausted
///   CORRUPT, NOTADB, IOERR_DATA kCorrupted             TOOBIG                 kTooLarge
///   BUSY, LOCKED, other IOERR   kUnavailable           INTERRUPT              kCancelled
///   CANTOPEN                    kUnavailable           CONSTRAINT_UNIQUE ...  kAlreadyExists
///   READONLY, PERM, AUTH        kPermissionDenied      CONSTRAINT_FOREIGNKEY  kFailedPrecondition
///   everything else             kInternal
/// `detail` is SQLite's own message; it names tables and columns, never stored values.
Error make_error(int extended_code, std::string_view detail, const std::filesystem::path& file);

/// True for codes that report a failed fsync.
bool is_sync_failure(int extended_code);

}  // namespace footnote::sql
