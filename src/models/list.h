#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "engine/nn/model_files.h"

namespace footnote::models {

/// What a model is for, derived from its classification head.
enum class ModelKind { kEmbedder, kCrossEncoder, kJudge };

/// "embedder", "cross-encoder".
std::string_view to_string(ModelKind kind);
ModelKind kind_of(const nn::ModelFiles& files);
/// The setting that selects the model of this kind.
Setting setting_of(ModelKind kind);

/// A packed file beside the weights: see nn::PackedFile.
struct PackedCopy {
  std::string name;
  std::uint64_t bytes = 0;
};

/// A model folder in the search path.
struct ModelEntry {
  std::string name;
  std::filesystem::path path;
  std::uint64_t bytes = 0;  ///< Size of all its files.
  std::vector<PackedCopy> packed;
  bool has_checksums = false;
  bool shadowed = false;  ///< An earlier search folder has a model with the same name, which takes precedence.
  bool embeds = false;    ///< Selected by models.name, and the embedder is local.
  bool reranks = false;   ///< Selected by reranker.model, and the reranker is local.
  std::optional<nn::ModelFiles> files;
  std::string reason;  ///< Why it can't be opened; empty if it can.
};

/// Limit on the folders listed per search folder; further ones are ignored.
inline constexpr std::size_t kModelsPerPlaceMax = 1000;

/// The model folders of all search folders, ordered by search folder and name. Ignores folders whose names begin with '.'.
std::vector<std::filesystem::path> model_folders(const Settings& settings);

/// Every model of every search folder, in the same order.
std::vector<ModelEntry> list_models(const Settings& settings);

ModelEntry describe_model(const Settings& settings, const std::filesystem::path& folder);

/// The names of a folder's packed files, in order.
std::vector<std::string> packed_names(const std::filesystem::path& folder);

}  // namespace footnote::models
