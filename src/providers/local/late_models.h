#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/late/late_model.h"
#include "engine/nn/model_files.h"

namespace footnote {

/// The file of a model folder that defines how its token vectors are coded.
inline constexpr std::string_view kLateFile = "late.bin";

/// A few weights that identify a model, even among models with the same name.
Result<std::vector<float>> probe_of(const nn::ModelFiles& files);

/// How this model's token vectors are coded: from its own kLateFile, or built in for known models; nullopt if neither exists. kCorrupted:
/// the file is unreadable or was made for other weights.
Result<std::optional<late::LateModel>> find_late_model(const nn::ModelFiles& files);

}  // namespace footnote
