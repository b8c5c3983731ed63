#include "upkeep/store_copies.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/ids.h"

namespace footnote::upkeep {
namespace {

namespace fs = std::filesystem;

void remove_copy(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file.string() + suffix, ignored);
}

/// Readers of a removed copy are not affected: they have the file open.
void make_room(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> copies;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".db") copies.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::ranges::sort(copies);
  for (std::size_t i = 0; i + kCopiesMax <= copies.size(); ++i) remove_copy(copies[i].second);
}

}  // namespace

Result<std::string> StoreCopies::make(const CallContext& call) {
  if (busy_.exchange(true)) return fail(ErrorCode::kAlreadyExists, "another snapshot is being made; try again when it is done");
  const std::string name = fmt::format("store-{}.db", random_base62(12));
  const auto copied = make_copy(call, folder_ / name);
  if (!copied) remove_copy(folder_ / name);
  busy_ = false;
  if (!copied) return std::unexpected(copied.error());
  return name;
}

Result<void> StoreCopies::make_copy(const CallContext& call, const fs::path& file) const {
  FOOTNOTE_CHECK(make_folders(folder_));
  make_room(folder_);
  return store_.copy_to(call, file);
}

void StoreCopies::tidy() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace footnote::upkeep
