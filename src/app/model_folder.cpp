#include "app/model_folder.h"

#include <cstdlib>

#include "base/text.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

}  // namespace

std::vector<fs::path> model_search_path(const Settings& settings) {
  if (settings.is_set(Setting::kModelsPath)) return {settings.path(Setting::kModelsPath)};
  std::vector<fs::path> places{fs::path(".deps") / "models"};
  if (const fs::path program = program_folder(); !program.empty()) {
    places.push_back((program / ".." / ".." / ".deps" / "models").lexically_normal());
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    places.push_back(fs::path(home) / ".local" / "share" / "footnote" / "models");
  }
  return places;
}

Result<fs::path> find_model_folder(const Settings& settings) {
  const std::string& name = settings.text(Setting::kModelsName);
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return fail_field(ErrorCode::kInvalidArgument, "models.name", "models.name: '{}' is not the name of a folder (from {})", name,
                      settings.value(Setting::kModelsName).place);
  }
  const auto places = model_search_path(settings);
  std::vector<std::string> looked;
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::is_directory(place / name, ignored)) return place / name;
    looked.push_back(place.string());
  }
  return fail(ErrorCode::kFailedPrecondition,
              "the model {} is not here (looked in {}); run `make setup` to fetch it, or set FOOTNOTE_MODELS to the folder that holds it",
              name, join(looked, ", "));
}

}  // namespace footnote::app
