#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace footnote::ingest {

/// Opens `relative` ("a/b/c", "" for the root itself) one component at a time and refuses every link, so that nothing outside `root` can be
/// reached even if files are swapped meanwhile. Refuses "..". Never blocks on a FIFO. kNotFound, kPermissionDenied, kInvalidArgument (a
/// link, or a component on the way that is not a folder).
Result<Descriptor> open_beneath(const std::filesystem::path& root, std::string_view relative, int flags);

/// Reads a regular file opened with open_beneath. kTooLarge past `bytes_max`; kInvalidArgument if it is not a regular file, or has more
/// than `links_max` names.
Result<std::string> read_beneath(const std::filesystem::path& root, std::string_view relative, std::uint64_t bytes_max,
                                 std::uint64_t links_max = std::numeric_limits<std::uint64_t>::max());

/// The error for an errno value.
std::unexpected<Error> errno_error(std::string_view path, int code);

}  // namespace footnote::ingest
