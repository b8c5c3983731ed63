#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "base/result.h"

namespace footnote {

/// The lock file in a data folder, readable by its owner only. Contains {"pid":4711,"url":"http://127.0.0.1:7700","token":"..."} while a
/// process holds the folder.
inline constexpr std::string_view kLockFile = "LOCK";

/// The process that has a data folder open. `url` and `token` are empty until a server listens; with the token, anyone who can read the
/// folder may use that server.
struct FolderHolder {
  pid_t pid = 0;
  std::string url;
  std::string token;
};

/// Exclusive ownership of a data folder for the object's lifetime. The kernel releases it when the process dies, however it dies.
class DataFolder {
 public:
  /// Creates the folder if missing and locks it, without waiting. kFailedPrecondition: another process holds it; the message names its pid
  /// and URL. kPermissionDenied: it can't be created or written to. kInvalidArgument: the path is not a folder, or the lock file is not a
  /// regular file. kStorageFull, kResourceExhausted.
  static Result<DataFolder> open(const std::filesystem::path& path);
  ~DataFolder();
  DataFolder(DataFolder&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  DataFolder& operator=(DataFolder&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Records this process's server URL, for others that find the folder locked.
  Result<void> set_url(std::string_view url, std::string_view token = {});

  /// The current holder; nullopt if there is none, or no such folder.
  static Result<std::optional<FolderHolder>> holder(const std::filesystem::path& path);

 private:
  DataFolder(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace footnote
