#pragma once

#include "support/temp_folder.h"

namespace footnote::sql {

/// A temporary folder with a file name for the database.
class FolderForTest : public test::TempFolder {
 public:
  using TempFolder::TempFolder;
  std::filesystem::path file() const { return path() / "test.db"; }
};

}  // namespace footnote::sql
