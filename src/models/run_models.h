#pragma once

#include "cli/commands.h"

namespace footnote::models {

/// `footnote models`, except `fit`. Runs to its end and gives the exit code. An error is printed by the caller.
Result<int> run_models(const cli::CommandContext& context, const cli::ModelsCommand& command);

}  // namespace footnote::models
