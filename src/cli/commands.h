#pragma once

#include "base/call_context.h"
#include "cli/command_line.h"
#include "cli/terminal.h"
#include "config/settings.h"

namespace footnote::cli {

/// Passed to every command. Borrowed for the run.
struct CommandContext {
  const Settings& settings;
  OutputForm form = OutputForm::kText;
  Terminal terminal;
  CallContext call;  ///< Stopped by SIGINT and SIGTERM.
};

}  // namespace footnote::cli
