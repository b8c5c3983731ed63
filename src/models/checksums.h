#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/file.h"

namespace footnote::models {

inline constexpr std::string_view kChecksumsName = "checksums.sha256";
inline constexpr std::string_view kWeightsName = "model.safetensors";
inline constexpr std::uint64_t kChecksumsBytesMax = 1 << 20;

/// SHA-256 sums of a model folder's files by their name in it, as checksums.sha256 lists them (the format of sha256sum).
using ModelChecksums = std::map<std::string, std::string, std::less<>>;

/// Empty when the folder has no list. kCorrupted: it is no such list, or names a file outside the folder.
Result<ModelChecksums> read_model_checksums(const std::filesystem::path& folder);

/// The text of the list.
std::string render_model_checksums(const ModelChecksums& sums);

/// Called with how many bytes were read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// The sum of a file, read piece by piece; each goes to `copy` too when that is not null. Errors of reading and of writing;
/// kCancelled between two pieces.
Result<std::string> sum_file(const CallContext& call, const std::filesystem::path& path, const BytesRead& on_read,
                             AtomicFile* copy = nullptr);

}  // namespace footnote::models
