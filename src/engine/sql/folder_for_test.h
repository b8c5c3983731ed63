#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace footnote::sql {

/// A folder that is gone after the test.
class FolderForTest {
 public:
  FolderForTest() {
    std::string name = (std::filesystem::temp_directory_path() / "footnote_sql_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~FolderForTest() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FolderForTest(const FolderForTest&) = delete;
  FolderForTest& operator=(const FolderForTest&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file() const { return path_ / "test.db"; }

 private:
  std::filesystem::path path_;
};

}  // namespace footnote::sql
