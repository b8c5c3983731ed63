#include "engine/sql/error.h"

#include <sqlite3.h>

namespace footnote::sql {

namespace {

struct Meaning {
  ErrorCode code;
  std::string_view advice;
};

Meaning meaning_of_io_error(int extended_code) {
  switch (extended_code) {
    case SQLITE_IOERR_NOMEM: return {ErrorCode::kUnavailable, "memory ran out; free some and try again"};
    case SQLITE_IOERR_DATA:
      return {ErrorCode::kCorrupted, "a page of it fails its checksum; restore it from a snapshot, or move it away and ingest again"};
    case SQLITE_IOERR_CORRUPTFS:
      return {ErrorCode::kCorrupted, "its file system is damaged; check the disk, then restore the data folder from a snapshot"};
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
      return {ErrorCode::kUnavailable,
              "the disk failed to make a write durable; the next start shows whether this call was stored. Check the disk, then start "
              "again"};
    default:
      return {ErrorCode::kUnavailable,
              "the disk failed to read or write it and nothing of this call was stored; check the disk, then try again"};
  }
}

Meaning meaning_of_constraint(int extended_code) {
  switch (extended_code) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID: return {ErrorCode::kAlreadyExists, "a row with that name already exists"};
    case SQLITE_CONSTRAINT_FOREIGNKEY: return {ErrorCode::kFailedPrecondition, "the row refers to something that does not exist"};
    default: return {ErrorCode::kInternal, "a row breaks a rule of the schema; this is a defect, please report it"};
  }
}

Meaning meaning_of(int extended_code) {
  switch (extended_code & 0xFF) {
    case SQLITE_FULL:
      return {ErrorCode::kStorageFull,
              "no space is left for it and nothing of this call was stored; free disk space or raise its size limit, then try again"};
    case SQLITE_NOMEM: return {ErrorCode::kUnavailable, "memory ran out; free some and try again"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return {ErrorCode::kPermissionDenied, "it is not writable; give this user write access to the file and its folder"};
    case SQLITE_CORRUPT:
      return {ErrorCode::kCorrupted, "the file is damaged; restore it from a snapshot, or move it away and ingest again"};
    case SQLITE_NOTADB:
      return {ErrorCode::kCorrupted,
              "the file is not a database, or its header is damaged; restore it from a snapshot, or move it away and ingest again"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return {ErrorCode::kUnavailable, "another process is writing it; end that process, or try again"};
    case SQLITE_INTERRUPT: return {ErrorCode::kCancelled, "the call was stopped"};
    case SQLITE_IOERR: return meaning_of_io_error(extended_code);
    case SQLITE_CANTOPEN:
      return {ErrorCode::kUnavailable,
              "it can't be opened; check that its folder exists and is writable for this user, and the limit of open files"};
    case SQLITE_TOOBIG: return {ErrorCode::kTooLarge, "a text or blob is too long for a row"};
    case SQLITE_CONSTRAINT: return meaning_of_constraint(extended_code);
    default: return {ErrorCode::kInternal, "the statement failed; this is a defect, please report it"};
  }
}

}  // namespace

Error make_error(int extended_code, std::string_view detail, const std::filesystem::path& file) {
  const Meaning meaning = meaning_of(extended_code);
  return Error{meaning.code,
               fmt::format("database {}: {} (SQLite {}: {})", file.string(), meaning.advice, extended_code, detail),
               {},
               fmt::format("the store failed: {} (SQLite {})", meaning.advice, extended_code)};
}

bool is_sync_failure(int extended_code) { return extended_code == SQLITE_IOERR_FSYNC || extended_code == SQLITE_IOERR_DIR_FSYNC; }

}  // namespace footnote::sql
