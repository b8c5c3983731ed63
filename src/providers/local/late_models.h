#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/late/late_model.h"
#include "engine/nn/model_files.h"

namespace footnote {

/// The file of a model folder that says how its token vectors are coded.
inline constexpr std::string_view kLateFile = "late.bin";

/// Some numbers of a model that tell it from others, also where both are called the same.
Result<std::vector<float>> probe_of(const nn::ModelFiles& files);

/// How this model's token vectors are coded: by its own kLateFile, or by what the program brings for models that it knows. nullopt
/// when there is neither. kCorrupted: the file can't be read, or was made for other weights.
Result<std::optional<late::LateModel>> find_late_model(const nn::ModelFiles& files);

}  // namespace footnote
