#pragma once

#include <cstdint>
#include <string_view>

namespace footnote {

/// Moments at which a crash does the most harm. A test kills the process there: see ADR 30.
enum class FaultPoint : std::uint8_t {
  kCommitBefore,      ///< A transaction is written, but not committed.
  kCommitAfter,       ///< The commit is durable, but the caller has not been told.
  kCheckpointPage,    ///< A page of the write-ahead log is about to be copied into the database.
  kCheckpointAfter,   ///< The write-ahead log was copied.
  kMigrationStep,     ///< A migration step is done, but not committed.
  kMigrationBetween,  ///< Between two migration steps.
  kPurgeStep,         ///< Between two transactions of a purge.
  kStoreCopyStep,     ///< Between two parts of a copy of the store.
  kIndexApply,        ///< The store has a change that the indexes do not have yet.
  kIndexFileSection,  ///< Between two sections of an index file.
  kFileBeforeSync,    ///< A file is written, but not synced.
  kFileBeforeRename,  ///< The file is synced, but still has its temporary name.
  kFileAfterRename,   ///< The file is renamed, but its folder is not synced.
};
inline constexpr int kFaultPoints = 13;

/// "commit-before", as in FOOTNOTE_FAULT_POINT.
std::string_view to_string(FaultPoint point);

/// Kills the process as `kill -9` would when FOOTNOTE_FAULT_POINT is "NAME:N" and the point NAME is reached for the N-th time. The variable
/// is read once, at the first call; without it this does nothing. Thread-safe.
void fault_point(FaultPoint point);

}  // namespace footnote
