#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "ingest/report.h"

namespace footnote::ingest {

/// Larger files are reported and left out.
inline constexpr std::uint64_t kFileBytesMax = 16u << 20;
/// Folders nested deeper than this are reported and left out.
inline constexpr int kFolderDepthMax = 64;
/// A walk that finds more files than this ends with kTooLarge.
inline constexpr std::size_t kFilesMax = 1'000'000;

/// What to do with a file of a folder that has a further name (hard link) outside the folder: its content may be somebody else's.
enum class HardLinks {
  kRefuse,  ///< A problem.
  kRead,    ///< For folders that a package manager or a backup filled with links.
};

struct WalkOptions {
  std::uint64_t file_bytes_max = kFileBytesMax;
  std::size_t files_max = kFilesMax;
  HardLinks hard_links = HardLinks::kRefuse;
};

/// A regular file below the root. `key` is its path relative to the root with "/" between names.
struct FoundFile {
  std::string key;
  std::uint64_t bytes = 0;
  std::uint64_t links_max = 1;  ///< A file that has more names when it is read is refused.
};

struct WalkResult {
  std::filesystem::path root;  ///< Canonical: no link in it. The folder that keys are relative to.
  bool is_folder = true;
  std::vector<FoundFile> files;   ///< In byte order of their keys.
  std::vector<Problem> problems;  ///< In the order of their paths; ignored names too, as kIgnored.
  /// Keys at or below which nothing is known (a folder that can't be read, a file that can't be looked at): what
  /// was indexed from there must not be taken for deleted. The empty key means the whole root.
  std::vector<std::string> unknown;
};

/// The files below a folder, or the one file that `path` names (its key is its file name). Hidden names and
/// `node_modules` and the like are ignored, and so is what .gitignore, .footnoteignore and .git/info/exclude name; a link inside
/// the root is ignored because its target is read under its own name. Files named like credentials (secret_names.h) are kSecret.
/// Links that leave the root, dangle or loop, hard links to the outside, FIFOs, sockets, devices, empty and too large files and
/// names that are not UTF-8 or hold control characters are problems, and the rest goes on. A folder whose ignore file cannot be
/// used is a problem and is not read. A file that `path` names itself is read whatever an ignore file says.
/// kNotFound, kPermissionDenied: `path` itself. kInvalidArgument: it is neither a folder nor a regular file.
Result<WalkResult> walk(const CallContext& call, const std::filesystem::path& path, const WalkOptions& options = {});

/// Reads one found file without following any link below the root, whatever happened to it since the walk.
/// Never blocks on a FIFO. kTooLarge, kNotFound, kPermissionDenied, kInvalidArgument (no longer a regular file, or a new hard link).
Result<std::string> read_found(const WalkResult& walk, const FoundFile& file, std::uint64_t bytes_max = kFileBytesMax);

/// True for names that nobody means to ingest: hidden files, `node_modules`, `__pycache__`, editors' leftovers.
bool is_ignored_name(std::string_view name);

}  // namespace footnote::ingest
