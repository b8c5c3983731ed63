#pragma once

#include <string>

#include "scenario_file.h"

namespace footnote::behaviour {

/// Runs a scenario in a world of its own and gives what its commands printed. kInvalidArgument names the line of a
/// command that is not known or lacks a word. README.md lists the commands.
Result<std::string> run(const Scenario& scenario);

}  // namespace footnote::behaviour
