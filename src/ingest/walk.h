#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/clock.h"
#include "ingest/report.h"

namespace footnote::ingest {

/// Larger files are reported and skipped.
inline constexpr std::uint64_t kFileBytesMax = 16u << 20;
/// Folders nested deeper than this are reported and skipped.
inline constexpr int kFolderDepthMax = 64;
/// A walk that finds more files than this fails with kTooLarge.
inline constexpr std::size_t kFilesMax = 1'000'000;

/// What to do with a file that has another name (hard link) outside the folder: the content may belong to another user.
enum class HardLinks {
  kRefuse,  ///< Report a problem.
  kRead,    ///< For folders filled with hard links by a package manager or a backup.
};

/// What is looked for. kCode: of hidden folders `.cursor` and `.claude` are read, and scripts next to web pages are files like others.
enum class WalkFor { kDocuments, kCode };

struct WalkOptions {
  std::uint64_t file_bytes_max = kFileBytesMax;
  std::size_t files_max = kFilesMax;
  HardLinks hard_links = HardLinks::kRefuse;
  WalkFor what = WalkFor::kDocuments;
};

/// A regular file below the root. `key` is its path relative to the root with "/" between names.
struct FoundFile {
  std::string key;
  std::uint64_t bytes = 0;
  std::uint64_t links_max = 1;  ///< A file with more names at read time is refused.
  std::string stamp = {};       ///< Its inode, size and times: another stamp may mean another content.
  UtcTime changed_at = {};      ///< The later of its times.
};

struct WalkResult {
  std::filesystem::path path;     ///< What was walked: canonical, without links.
  std::filesystem::path root;     ///< The folder that keys are relative to: `path`, or the folder of that file.
  std::vector<FoundFile> files;   ///< In byte order of their keys.
  std::vector<Problem> problems;  ///< In path order; also lists ignored names, as kIgnored.
  /// Keys at or below which the contents are unknown (an unreadable folder, or a file whose status can't be read). Documents indexed from
  /// there must not be treated as deleted. The empty key means the whole root.
  std::vector<std::string> unknown;
  /// Files that are no documents, counted by kind ("images"); they are not read and are not problems. Scripts count if the folder has web
  /// pages.
  std::map<std::string, std::size_t> no_documents;
};

/// Lists the files below a folder, or the one file that `path` names (its key is its file name). Ignores hidden names, `node_modules` and
/// the like, and everything matched by .gitignore, .footnoteignore and .git/info/exclude; a link inside the root is ignored because its
/// target is read under its own name. Files named like credentials (secret_names.h) are kSecret. These are problems, and the walk
/// continues: links that leave the root, dangle or loop, hard links to the outside, FIFOs, sockets, devices, empty and too large files, and
/// names that are not UTF-8 or hold control characters. A folder whose ignore file cannot be used is a problem and is not read. A file
/// named by `path` itself is read even if an ignore file matches it. kNotFound, kPermissionDenied: `path` itself. kInvalidArgument: it is
/// neither a folder nor a regular file.
Result<WalkResult> walk(const CallContext& call, const std::filesystem::path& path, const WalkOptions& options = {});

/// Reads one found file without following any link below the root, whatever changed since the walk. Never blocks on a FIFO. kTooLarge,
/// kNotFound, kPermissionDenied, kInvalidArgument (no longer a regular file, or a new hard link).
Result<std::string> read_found(const WalkResult& walk, const FoundFile& file, std::uint64_t bytes_max = kFileBytesMax);

/// True for names that are never worth ingesting: hidden files, `node_modules`, `__pycache__`, editors' temporary files.
bool is_ignored_name(std::string_view name);

}  // namespace footnote::ingest
