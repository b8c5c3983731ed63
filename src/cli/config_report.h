#pragma once

#include <string>

#include "base/json.h"
#include "config/settings.h"

namespace footnote::cli {

/// Each setting, its value and where it came from, as an aligned list. Secrets read "set" or "not set".
std::string render_config(const Settings& settings);

/// {"settings":[{"key","value","origin":"default|file|dotenv|environment|flag","place","env","help"}]}; the value
/// of a secret is null, with "set": true or false beside it.
Json config_json(const Settings& settings);

/// The reference page docs/configuration.md, from the table alone.
std::string config_markdown();

}  // namespace footnote::cli
