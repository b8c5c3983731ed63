#pragma once

#include <filesystem>

#include "base/result.h"

namespace footnote::sql {

/// Looks at the write-ahead log that a crash left beside `database`, before SQLite does: SQLite drops everything from
/// the first frame on that fails its sum, and says nothing, because that is how a commit looks that the power cut tore.
/// But a commit is only begun when the one before it is on disk, so a bad frame in a commit that another one follows is
/// damage: kCorrupted, and nothing is touched. What can't be told from a torn commit, and is dropped like one, is damage
/// to the very last, and to more than one bit of the frame that ends the one before it.
/// REQUIRES: nobody has the database open.
Result<void> check_log(const std::filesystem::path& database);

}  // namespace footnote::sql
