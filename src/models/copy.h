#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.h"
#include "models/checksums.h"
#include "models/list.h"

namespace footnote::models {

/// The files of a Hugging Face model folder that are of use here, by their names in it. The weights come last.
std::span<const std::string_view> model_file_names();

/// Of each file but the weights, which may have kWeightsBytesMax.
inline constexpr std::uint64_t kModelFileBytesMax = 64 << 20;
inline constexpr std::uint64_t kWeightsBytesMax = std::uint64_t{16} << 30;

enum class IfPresent { kRefuse, kReplace };

struct AddOptions {
  std::string name;  ///< Empty: that of the folder.
  IfPresent if_present = IfPresent::kRefuse;
};

struct AddedModel {
  ModelEntry model;
  ModelChecksums sums;
  bool replaced = false;
};

/// Called with the bytes copied so far and those to copy.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// The first search place that can be written; when there is none, the last is made. kPermissionDenied and other errors of
/// making it name the setting that says where models live.
Result<std::filesystem::path> place_for_models(const Settings& settings);

/// Copies a model folder into place_for_models() under a name: the files of model_file_names() that it has and no others, with a
/// list of their sums. It is opened before the weights are copied and put in place by one rename, so that a model that can't be run,
/// a full disk or a crash leaves none behind.
/// kInvalidArgument: not a folder, a name that is none, a link that leads out of the folder. kFailedPrecondition: a file that every model
/// needs is missing. kUnsupported: a model that can't be run. kAlreadyExists: there is one of that name. kCorrupted: a file
/// does not fit the sum that the folder itself lists. kStorageFull, kTooLarge, kCancelled.
Result<AddedModel> add_model(const CallContext& call, const Settings& settings, const std::filesystem::path& source,
                             const AddOptions& options, const CopyProgress& on_progress);

}  // namespace footnote::models
