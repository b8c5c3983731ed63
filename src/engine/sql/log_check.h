#pragma once

#include <filesystem>

#include "base/result.h"

namespace footnote::sql {

/// Checks the WAL that a crash left next to `database`, before SQLite opens it. SQLite silently drops everything from the first frame with
/// a bad checksum, because a commit torn by a power failure looks the same. But a commit starts only after the previous one is on disk, so
/// a bad frame in a commit that another commit follows is damage: kCorrupted, and nothing is changed.
/// Not distinguishable from a torn commit, and dropped like one: damage to the last commit, and to more than one bit of the frame that ends
/// the commit before it. REQUIRES: no one has the database open.
Result<void> check_log(const std::filesystem::path& database);

}  // namespace footnote::sql
