#include "models/folder.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

bool is_default(std::string_view name) { return name == spec_of(Setting::kModelsName).default_text; }

}  // namespace

bool embeds_elsewhere(const Settings& settings) { return settings.text(Setting::kEmbedderProvider) != "local"; }

bool reranks_elsewhere(const Settings& settings) {
  const std::string& provider = settings.text(Setting::kRerankerProvider);
  return provider != "none" && provider != "local";
}

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

std::string_view model_folder_name(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

bool is_model_name(std::string_view name) {
  if (name.empty() || name.size() > kModelNameBytesMax || name.front() == '.') return false;
  return std::ranges::none_of(name, [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

std::string_view command_that_brings(std::string_view name) { return is_default(name) ? "make setup" : "footnote models add FOLDER"; }

std::string without_advice(const std::string& message) { return message.substr(0, message.find("; run `make setup`")); }

Error advise(Error error, std::string_view name) {
  std::string bare = without_advice(error.message);
  if (is_default(name) || bare.size() == error.message.size()) return error;
  error.message = std::move(bare) + "; run `footnote models add FOLDER --replace` to add it again";
  return error;
}

Result<fs::path> find_model_folder(const Settings& settings, Setting which) {
  const SettingValue& value = settings.value(which);
  const std::string_view key = spec_of(which).key;
  const std::string_view name = model_folder_name(value.text);
  if (!is_model_name(name)) {
    return fail_field(ErrorCode::kInvalidArgument, key, "{}: '{}' is not the name of a folder (from {})", key, value.text, value.place);
  }
  auto found = find_named_model(settings, name);
  if (!found && value.origin != Origin::kDefault) found.error().message += fmt::format(" ({} is from {})", key, value.place);
  return found;
}

Result<fs::path> find_named_model(const Settings& settings, std::string_view name) {
  if (!is_model_name(name)) return fail(ErrorCode::kInvalidArgument, "'{}' is not the name of a model's folder", name);
  std::vector<std::string> looked;
  for (const fs::path& place : model_search_path(settings)) {
    std::error_code ignored;
    if (fs::is_directory(place / name, ignored)) return place / name;
    looked.push_back(place.string());
  }
  return fail(ErrorCode::kFailedPrecondition,
              "the model {} was not found (looked in {}); run `{}` to get it, or set FOOTNOTE_MODELS to the folder that contains it", name,
              join(looked, ", "), command_that_brings(name));
}

}  // namespace footnote::models
