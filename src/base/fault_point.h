#pragma once

#include <cstdint>
#include <string_view>

namespace footnote {

/// Moments at which a crash does the most harm. A test kills the process there: see ADR 30.
enum class FaultPoint : std::uint8_t {
  kCommitBefore,      ///< Everything of a transaction is written but its commit.
  kCommitAfter,       ///< It is durable; the caller does not know it yet.
  kCheckpointPage,    ///< A page of the log is about to be copied into the database.
  kCheckpointAfter,   ///< The log was copied.
  kMigrationStep,     ///< A step of the schema is done, but for its commit.
  kMigrationBetween,  ///< Between two steps of the schema.
  kPurgeStep,         ///< Between two transactions of a purge.
  kStoreCopyStep,     ///< Between two pieces of a copy of the store.
  kIndexApply,        ///< The store has a change, the indexes do not.
  kIndexFileSection,  ///< Between two sections of an index file.
  kFileBeforeSync,    ///< A file is written, not synced.
  kFileBeforeRename,  ///< It is synced, under its temporary name.
  kFileAfterRename,   ///< It has its name; the folder is not synced.
};
inline constexpr int kFaultPoints = 13;

/// "commit-before", as in FOOTNOTE_FAULT_POINT.
std::string_view to_string(FaultPoint point);

/// Kills the process as `kill -9` would, if the environment variable FOOTNOTE_FAULT_POINT is "NAME:N" with this point's name and it is
/// reached for the N-th time. The variable is read once, at the first call; without it nothing happens. Thread-safe.
void fault_point(FaultPoint point);

}  // namespace footnote
