#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace footnote::models {

/// Whether another server embeds (or ranks): its settings name one.
bool embeds_elsewhere(const Settings& settings);
bool reranks_elsewhere(const Settings& settings);

/// The folders in which a model folder is looked for, best first: the setting models.path alone when it is set; else
/// ./.deps/models, ../../.deps/models beside the program, ~/.local/share/footnote/models.
std::vector<std::filesystem::path> model_search_path(const Settings& settings);

/// The name of a model's folder: what follows the last '/', for models are also named with their publisher
/// ("sentence-transformers/all-MiniLM-L6-v2"). A view into `name`.
std::string_view model_folder_name(std::string_view name);

/// Whether it can name a model's folder: 1 to kModelNameBytesMax bytes, no '/', no leading '.', no control characters.
bool is_model_name(std::string_view name);
inline constexpr std::size_t kModelNameBytesMax = 128;

/// The command that brings a model that is not there: set-up's for the default one, else `footnote models add`.
std::string_view command_that_brings(std::string_view name);

/// An error of opening a model. Those of nn advise set-up, which brings the default model alone: any other gets the advice that
/// fits it.
Error advise(Error error, std::string_view name);
/// The message without any such advice, for a folder that is nowhere yet.
std::string without_advice(const std::string& message);

/// The folder of the model that `which` (models.name or reranker.model) names. kFailedPrecondition: it is in none of the
/// places; the message names them and the command that brings it. kInvalidArgument: a name that is_model_name() refuses.
Result<std::filesystem::path> find_model_folder(const Settings& settings, Setting which = Setting::kModelsName);

/// The same for a name that a user typed.
Result<std::filesystem::path> find_named_model(const Settings& settings, std::string_view name);

}  // namespace footnote::models
