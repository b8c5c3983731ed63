#pragma once

#include "cli/commands.h"

namespace footnote::models {

/// `footnote models`, except `fit`. Runs to completion and returns the exit code. The caller prints errors.
Result<int> run_models(const cli::CommandContext& context, const cli::ModelsCommand& command);

}  // namespace footnote::models
