#pragma once

#include <filesystem>
#include <vector>

#include "app/settings.h"

namespace footnote::app {

/// The folders in which a model folder is looked for, best first: the setting models.path alone when it is set; else
/// ./.deps/models, ../../.deps/models beside the program, ~/.local/share/footnote/models.
std::vector<std::filesystem::path> model_search_path(const Settings& settings);

/// The folder of the configured model. kFailedPrecondition: it is in none of them; the message names the places
/// and the command that brings it. kInvalidArgument: a name that is not a plain folder name.
Result<std::filesystem::path> find_model_folder(const Settings& settings);

}  // namespace footnote::app
