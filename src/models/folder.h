#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace footnote::models {

/// Whether a remote server embeds (or reranks), according to the settings.
bool embeds_elsewhere(const Settings& settings);
bool reranks_elsewhere(const Settings& settings);

/// The folders searched for models, in order: only models.path if it is set; else ./.deps/models, ../../.deps/models beside the program,
/// ~/.local/share/footnote/models.
std::vector<std::filesystem::path> model_search_path(const Settings& settings);

/// The folder name of a model: what follows the last '/', because models are also named with their publisher
/// ("sentence-transformers/all-MiniLM-L6-v2"). A view into `name`.
std::string_view model_folder_name(std::string_view name);

/// Whether it can name a model's folder: 1 to kModelNameBytesMax bytes, no '/', no leading '.', no control characters.
bool is_model_name(std::string_view name);
inline constexpr std::size_t kModelNameBytesMax = 128;

/// The command that installs a missing model: `make setup` for the default one, else `footnote models add`.
std::string_view command_that_brings(std::string_view name);

/// Corrects the advice in an error from opening a model: errors of `nn` suggest `make setup`, which installs only the default model.
Error advise(Error error, std::string_view name);
/// The message without that advice, for a folder that is not installed yet.
std::string without_advice(const std::string& message);

/// The folder of the model named by `which` (models.name or reranker.model). kFailedPrecondition: not found; the message names the searched
/// folders and the command that installs it. kInvalidArgument: a name that is_model_name() rejects.
Result<std::filesystem::path> find_model_folder(const Settings& settings, Setting which = Setting::kModelsName);

/// The same for a name typed by a user.
Result<std::filesystem::path> find_named_model(const Settings& settings, std::string_view name);

}  // namespace footnote::models
