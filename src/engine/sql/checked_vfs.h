#pragma once

#include <cstddef>

struct sqlite3_file;  // NOLINT(readability-identifier-naming): SQLite's name

namespace footnote::sql {

/// Bytes reserved at the end of every page for the page's checksum.
inline constexpr int kPageSumBytes = 4;

/// The name of an SQLite VFS that adds checksums to the VFS `base` (null: the system's). In a database that reserves kPageSumBytes, every
/// page is written with a CRC-32C over its bytes and its offset, and verified when read. A mismatch fails the read with SQLITE_IOERR_DATA,
/// so damaged bytes never become an answer.
/// Pages of the WAL carry SQLite's own checksums, which SQLite verifies only after a crash. Here they are verified whenever a connection
/// that does not write reads one, and when a checkpoint moves one into the database.
/// The VFS is registered on first use and stays registered.
const char* checked_vfs(const char* base);

/// Whether the connection's file has page checksums. REQUIRES: opened through checked_vfs().
bool has_page_sums(sqlite3_file* file);

}  // namespace footnote::sql
