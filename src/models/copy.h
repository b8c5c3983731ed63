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

/// The files of a Hugging Face model folder that we use, by relative name. The weights come last.
std::span<const std::string_view> model_file_names();

/// Size limit of each file except the weights, which have kWeightsBytesMax.
inline constexpr std::uint64_t kModelFileBytesMax = 64 << 20;
inline constexpr std::uint64_t kWeightsBytesMax = std::uint64_t{16} << 30;

enum class IfPresent { kRefuse, kReplace };

struct AddOptions {
  std::string name;  ///< Empty: the folder's name.
  IfPresent if_present = IfPresent::kRefuse;
};

struct AddedModel {
  ModelEntry model;
  ModelChecksums sums;
  bool replaced = false;
};

/// Called with the bytes copied so far and the total.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// The first writable search folder; if there is none, the last one is created. Errors of creating it (such as kPermissionDenied) name the
/// setting that says where models are stored.
Result<std::filesystem::path> place_for_models(const Settings& settings);

/// Copies a model folder into place_for_models() under a name: only its files in model_file_names(), with a list of their checksums. The
/// model is opened before the weights are copied and then moved into place by one rename, so that an unsupported model, a full disk or a
/// crash leaves nothing behind. kInvalidArgument: not a folder, an invalid name, a link out of the folder. kFailedPrecondition: a required
/// file is missing. kUnsupported: the model can't be run. kAlreadyExists: there is one with that name. kCorrupted: a file does not match
/// the folder's own checksum list. kStorageFull, kTooLarge, kCancelled.
Result<AddedModel> add_model(const CallContext& call, const Settings& settings, const std::filesystem::path& source,
                             const AddOptions& options, const CopyProgress& on_progress);

}  // namespace footnote::models
