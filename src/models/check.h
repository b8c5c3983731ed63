#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "models/checksums.h"

namespace footnote::models {

enum class FileState {
  kOk,          ///< Matches its checksum.
  kUnlisted,    ///< Not listed in checksums.sha256.
  kStale,       ///< A packed file for other weights or another version: the next start rebuilds it.
  kMissing,     ///< Listed in checksums.sha256, but missing.
  kDamaged,     ///< Does not match its checksum.
  kUnreadable,  ///< Could not be read; `detail` has the system's error.
};

struct FileFinding {
  std::string name;  ///< Relative to the model's folder.
  FileState state = FileState::kOk;
  std::string detail;
};

/// Result of checking a model against its checksums.
struct ModelVerdict {
  std::string name;
  std::filesystem::path path;
  bool has_checksums = false;
  std::vector<FileFinding> files;
  std::string reason;  ///< Why it can't be opened, if no file finding says so.

  /// Nothing is missing, damaged or unreadable, and it can be opened.
  bool sound() const;
};

/// Reads every listed file of a model folder, including the weights, and its packed files. A packed file that fails its checksums is
/// deleted: it is a cache, and the next start rebuilds it. kCancelled; all other problems are in the verdict.
Result<ModelVerdict> verify_model(const CallContext& call, const std::filesystem::path& folder, const BytesRead& on_read);

/// The total that verify_model() will report to `on_read`.
std::uint64_t bytes_to_verify(const std::filesystem::path& folder);

}  // namespace footnote::models
