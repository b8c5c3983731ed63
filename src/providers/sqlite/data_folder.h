#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "base/result.h"

namespace footnote {

/// The lock file in a data folder, for its owner's eyes alone. Holds {"pid":4711,"url":"http://127.0.0.1:7700","token":"..."} while a
/// process has the folder.
inline constexpr std::string_view kLockFile = "LOCK";

/// Who has a data folder open. `url` and `token` are empty until a server listens; the token lets whoever can read the
/// folder in at that server.
struct FolderHolder {
  pid_t pid = 0;
  std::string url;
  std::string token;
};

/// The exclusive right to a data folder, for as long as the object lives. The kernel takes it back when the
/// process dies, however it dies.
class DataFolder {
 public:
  /// Makes the folder when it is not there and locks it, without waiting.
  /// kFailedPrecondition: another process has it; the message names its pid and address.
  /// kPermissionDenied: it can't be made or written in. kInvalidArgument: something else than a folder is there, or
  /// something else than a plain file has the lock's name. kStorageFull, kResourceExhausted.
  static Result<DataFolder> open(const std::filesystem::path& path);
  ~DataFolder();
  DataFolder(DataFolder&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  DataFolder& operator=(DataFolder&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Records where this process serves, for others that find the folder held.
  Result<void> set_url(std::string_view url, std::string_view token = {});

  /// Who holds the folder now; nullopt when nobody does, or when there is no such folder.
  static Result<std::optional<FolderHolder>> holder(const std::filesystem::path& path);

 private:
  DataFolder(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace footnote
