#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "models/checksums.h"

namespace footnote::models {

enum class FileState {
  kOk,          ///< It fits its sum.
  kUnlisted,    ///< checksums.sha256 does not name it.
  kStale,       ///< A packed file of other weights or another version: the next start makes it anew.
  kMissing,     ///< checksums.sha256 names it, and it is not there.
  kDamaged,     ///< It does not fit its sum.
  kUnreadable,  ///< The system says why, in `detail`.
};

struct FileFinding {
  std::string name;  ///< In the model's folder.
  FileState state = FileState::kOk;
  std::string detail;
};

/// What holding a model against its sums found.
struct ModelVerdict {
  std::string name;
  std::filesystem::path path;
  bool has_checksums = false;
  std::vector<FileFinding> files;
  std::string reason;  ///< Why it can't be opened, where no file says so already.

  /// Nothing is missing, damaged or unreadable, and it can be opened.
  bool sound() const;
};

/// Reads every listed file of a model folder, weights included, and its packed files. A packed file that fails its own sums is
/// removed: it is a cache, and the next start makes it anew. kCancelled; all else is in the verdict.
Result<ModelVerdict> verify_model(const CallContext& call, const std::filesystem::path& folder, const BytesRead& on_read);

/// How much verify_model() will tell of.
std::uint64_t bytes_to_verify(const std::filesystem::path& folder);

}  // namespace footnote::models
