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

struct WalkOptions {
  std::uint64_t file_bytes_max = kFileBytesMax;
  std::size_t files_max = kFilesMax;
};

/// A regular file below the root. `key` is its path relative to the root with "/" between names.
struct FoundFile {
  std::string key;
  std::uint64_t bytes = 0;
};

struct WalkResult {
  std::filesystem::path path;     ///< What was walked: canonical, no link in it.
  std::filesystem::path root;     ///< The folder that keys are relative to: `path`, or where that file is.
  std::vector<FoundFile> files;   ///< In byte order of their keys.
  std::vector<Problem> problems;  ///< In the order of their paths; ignored names too, as kIgnored.
  /// Keys at or below which nothing is known (a folder that can't be read, a file that can't be looked at): what
  /// was indexed from there must not be taken for deleted. The empty key means the whole root.
  std::vector<std::string> unknown;
};

/// The files below a folder, or the one file that `path` names (its key is its file name). Hidden names and
/// `node_modules` and the like are ignored; a link inside the root is ignored because its target is read under its
/// own name; links that leave the root, dangle or loop, FIFOs, sockets, devices, empty and too large files and
/// names that are not UTF-8 are problems, and the rest goes on.
/// kNotFound, kPermissionDenied: `path` itself. kInvalidArgument: it is neither a folder nor a regular file.
Result<WalkResult> walk(const CallContext& call, const std::filesystem::path& path, const WalkOptions& options = {});

/// Reads one found file without following any link below the root, whatever happened to it since the walk.
/// Never blocks on a FIFO. kTooLarge, kNotFound, kPermissionDenied, kInvalidArgument (no longer a regular file).
Result<std::string> read_found(const WalkResult& walk, std::string_view key, std::uint64_t bytes_max = kFileBytesMax);

/// True for names that nobody means to ingest: hidden files, `node_modules`, `__pycache__`, editors' leftovers.
bool is_ignored_name(std::string_view name);

}  // namespace footnote::ingest
