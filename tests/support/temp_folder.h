#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace footnote::test {

/// A temporary folder, deleted with the object.
class TempFolder {
 public:
  TempFolder() : TempFolder(std::filesystem::temp_directory_path()) {}
  explicit TempFolder(const std::filesystem::path& parent) {
    std::string name = (parent / "footnote-test-XXXXXX").string();
    FOOTNOTE_ASSERT(::mkdtemp(name.data()) != nullptr);
    path_ = std::filesystem::canonical(name);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  /// A folder in memory, if the system has one, for tests that write much and need no disk.
  static std::filesystem::path in_memory() {
    const std::filesystem::path shared = "/dev/shm";
    return ::access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
  }

  /// Without symbolic links.
  const std::filesystem::path& path() const { return path_; }
  /// Creates the file and its parent folders.
  void write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// Removes a file, or a folder with its contents.
  void remove(const std::string& name) const { std::filesystem::remove_all(path_ / name); }

 private:
  std::filesystem::path path_;
};

}  // namespace footnote::test
