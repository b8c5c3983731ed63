#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace footnote::sql {

/// A folder that is gone after the test.
class FolderForTest {
 public:
  FolderForTest() : FolderForTest(std::filesystem::temp_directory_path()) {}
  explicit FolderForTest(const std::filesystem::path& parent) {
    std::string name = (parent / "footnote_sql_XXXXXX").string();
    const char* made = ::mkdtemp(name.data());
    if (made != nullptr) path_ = made;
  }
  ~FolderForTest() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;

  /// Where files lie in memory, if there is such a place: for tests that write much and need no disk.
  static std::filesystem::path in_memory() {
    const std::filesystem::path shared = "/dev/shm";
    return ::access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file() const { return path_ / "test.db"; }

 private:
  std::filesystem::path path_;
};

}  // namespace footnote::sql
