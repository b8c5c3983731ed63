#include <sys/stat.h>

#include <filesystem>

#include "app/doctor.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

/// Further files are not checked.
constexpr std::size_t kFilesLookedAtMax = 10'000;

bool others_may(const fs::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && !S_ISLNK(status.st_mode) && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

}  // namespace

std::vector<cli::Check> check_file_modes(const fs::path& data) {
  std::error_code error;
  if (!fs::is_directory(data, error)) return {};
  std::vector<std::string> open;
  if (others_may(data)) open.push_back(data.string());
  std::size_t looked_at = 0;
  for (auto at = fs::recursive_directory_iterator(data, fs::directory_options::skip_permission_denied, error);
       !error && at != fs::recursive_directory_iterator() && looked_at < kFilesLookedAtMax; at.increment(error), ++looked_at) {
    if (others_may(at->path())) open.push_back(at->path().string());
  }
  if (open.empty()) {
    return {{"files", cli::Health::kOk, fmt::format("{} is for this user alone", data.string()), {}, {{"open_to_others", 0}}}};
  }
  return {{"files",
           cli::Health::kNote,
           fmt::format("other users of this machine may read {} of the data folder, such as {}", open.size(), open.front()),
           fmt::format("run `chmod -R go= {}`", data.string()),
           {{"open_to_others", open.size()}}}};
}

}  // namespace footnote::app
