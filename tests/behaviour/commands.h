#pragma once

#include <string>

#include "scenario_file.h"

namespace footnote::behaviour {

/// Runs a scenario in its own world and returns what its commands printed. kInvalidArgument names the line of a command that is unknown or
/// lacks a word. README.md lists the commands.
Result<std::string> run(const Scenario& scenario);

}  // namespace footnote::behaviour
