#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// Reads a whole regular file. kNotFound, kPermissionDenied, kTooLarge past `bytes_max`, kInvalidArgument for
/// what is not a regular file; never blocks on a FIFO or device.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t bytes_max);

/// Replaces `path` so that after a crash it holds either the old bytes or the new: temporary file in the same
/// folder, fsync, rename, fsync of the folder.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace footnote
