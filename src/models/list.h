#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "engine/nn/model_files.h"

namespace footnote::models {

/// What a model is for, by whether it has a classification head.
enum class ModelKind { kEmbedder, kCrossEncoder, kJudge };

/// "embedder", "cross-encoder".
std::string_view to_string(ModelKind kind);
ModelKind kind_of(const nn::ModelFiles& files);
/// The setting that names the model in use of this kind.
Setting setting_of(ModelKind kind);

/// A packed file beside the weights: see nn::PackedFile.
struct PackedCopy {
  std::string name;
  std::uint64_t bytes = 0;
};

/// A folder of a search place.
struct ModelEntry {
  std::string name;
  std::filesystem::path path;
  std::uint64_t bytes = 0;  ///< Of all its files.
  std::vector<PackedCopy> packed;
  bool has_checksums = false;
  bool shadowed = false;  ///< A place before this one has a model of that name, which is taken.
  bool embeds = false;    ///< models.name names it, and the embedder is local.
  bool reranks = false;   ///< reranker.model names it, and the reranker is local.
  std::optional<nn::ModelFiles> files;
  std::string reason;  ///< Why it can't be opened; empty when it can.
};

/// Folders looked at in one search place; what is past it is left out.
inline constexpr std::size_t kModelsPerPlaceMax = 1000;

/// The model folders of every search place, by place and name. Folders whose names begin with '.' are none.
std::vector<std::filesystem::path> model_folders(const Settings& settings);

/// Every model of every search place, in the same order.
std::vector<ModelEntry> list_models(const Settings& settings);

/// One of them.
ModelEntry describe_model(const Settings& settings, const std::filesystem::path& folder);

/// The names of a folder's packed files, in order.
std::vector<std::string> packed_names(const std::filesystem::path& folder);

}  // namespace footnote::models
