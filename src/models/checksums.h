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

/// SHA-256 sums of a model folder's files by relative name, as in checksums.sha256 (the format of sha256sum).
using ModelChecksums = std::map<std::string, std::string, std::less<>>;

/// Empty if the folder has no list. kCorrupted: not such a list, or it names a file outside the folder.
Result<ModelChecksums> read_model_checksums(const std::filesystem::path& folder);

std::string render_model_checksums(const ModelChecksums& sums);

/// Called with the number of bytes read since the last call.
using BytesRead = std::function<void(std::uint64_t bytes)>;

/// Computes a file's checksum, reading it in pieces; each piece is also written to `copy` if that is not null. Read and write errors;
/// kCancelled between two pieces.
Result<std::string> sum_file(const CallContext& call, const std::filesystem::path& path, const BytesRead& on_read,
                             AtomicFile* copy = nullptr);

}  // namespace footnote::models
