#pragma once

#include <cstddef>

struct sqlite3_file;

namespace footnote::sql {

/// Bytes at the end of every page that SQLite leaves to the file layer, and that hold the page's checksum.
inline constexpr int kPageSumBytes = 4;

/// SQLite's file layer with checksums, by name, over the layer `base` (null: the system's). A page of a database that
/// reserves kPageSumBytes is written with the CRC-32C of its bytes and of its place, and read only when they fit:
/// otherwise the read fails with SQLITE_IOERR_DATA, so that no damaged byte of the file ever becomes an answer. Pages
/// of the log carry SQLite's own sums, which it looks at after a crash alone; here they are checked whenever a
/// connection that does not write reads one, and when a checkpoint takes one over into the database.
/// The layer is registered with SQLite on first use and stays.
const char* checked_vfs(const char* base);

/// Whether the file behind a connection carries checksums. REQUIRES: opened through checked_vfs.
bool has_page_sums(sqlite3_file* file);

}  // namespace footnote::sql
