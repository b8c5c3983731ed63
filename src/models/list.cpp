#include "models/list.h"

#include <algorithm>
#include <set>

#include "models/checksums.h"
#include "models/folder.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;

bool is_packed_name(const std::string& name) { return name.starts_with("packed-") && name.ends_with(".bin"); }

void count_files(const fs::path& folder, ModelEntry& entry) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    const std::uint64_t bytes = at->file_size(ignored);
    if (ignored) continue;
    entry.bytes += bytes;
  }
  for (const std::string& name : packed_names(folder)) {
    const std::uint64_t bytes = fs::file_size(folder / name, error);
    if (!error) entry.packed.push_back({name, bytes});
  }
}

/// The names of a search folder's models, sorted.
std::vector<std::string> names_in(const fs::path& place) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end && names.size() < kModelsPerPlaceMax; at.increment(error)) {
    std::error_code ignored;
    std::string name = at->path().filename().string();
    if (is_model_name(name) && at->is_directory(ignored)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

bool is_the_model_of(const Settings& settings, Setting which, const fs::path& folder) {
  if (!settings.is_set(which)) return false;
  const auto chosen = find_model_folder(settings, which);
  std::error_code ignored;
  return chosen && fs::equivalent(*chosen, folder, ignored);
}

}  // namespace

std::string_view to_string(ModelKind kind) {
  switch (kind) {
    case ModelKind::kEmbedder: return "embedder";
    case ModelKind::kCrossEncoder: return "cross-encoder";
    case ModelKind::kJudge: return "judge";
  }
  return "unknown";
}

ModelKind kind_of(const nn::ModelFiles& files) {
  if (files.finds_spans) return ModelKind::kJudge;
  return files.labels > 0 ? ModelKind::kCrossEncoder : ModelKind::kEmbedder;
}

Setting setting_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::kEmbedder: return Setting::kModelsName;
    case ModelKind::kCrossEncoder:
    case ModelKind::kJudge: return Setting::kRerankerModel;
  }
  return Setting::kModelsName;
}

std::vector<std::string> packed_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    std::string name = at->path().filename().string();
    if (is_packed_name(name) && at->is_regular_file(ignored)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

ModelEntry describe_model(const Settings& settings, const fs::path& folder) {
  ModelEntry entry;
  entry.name = folder.filename().string();
  entry.path = folder;
  count_files(folder, entry);
  std::error_code ignored;
  entry.has_checksums = fs::exists(folder / kChecksumsName, ignored);
  entry.embeds = !embeds_elsewhere(settings) && is_the_model_of(settings, Setting::kModelsName, folder);
  entry.reranks = settings.text(Setting::kRerankerProvider) == "local" && is_the_model_of(settings, Setting::kRerankerModel, folder);
  auto files = nn::ModelFiles::open(folder);
  if (files) {
    entry.files = *std::move(files);
  } else {
    entry.reason = advise(files.error(), entry.name).message;
  }
  return entry;
}

std::vector<fs::path> model_folders(const Settings& settings) {
  std::vector<fs::path> out;
  std::set<fs::path> places_seen;
  for (const fs::path& place : model_search_path(settings)) {
    std::error_code error;
    const fs::path canonical = fs::canonical(place, error);
    if (error || !places_seen.insert(canonical).second) continue;
    for (const std::string& name : names_in(place)) out.push_back(place / name);
  }
  return out;
}

std::vector<ModelEntry> list_models(const Settings& settings) {
  std::vector<ModelEntry> out;
  std::set<std::string> names_seen;
  for (const fs::path& folder : model_folders(settings)) {
    out.push_back(describe_model(settings, folder));
    out.back().shadowed = !names_seen.insert(out.back().name).second;
  }
  return out;
}

}  // namespace footnote::models
